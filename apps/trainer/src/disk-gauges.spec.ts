import { tmpdir } from 'node:os';
import { Metrics } from '@hindcast/platform';
import { exportDiskRoom } from './disk-gauges';

async function exposed(folder: string): Promise<Record<string, number>> {
  const metrics = new Metrics('trainer');
  exportDiskRoom(metrics, folder);
  const lines = (await metrics.scrape()).matchAll(/^hindcast_trainer_policy_disk_(\w+)_bytes\{.*\} (\d\S*)$/gm);
  return Object.fromEntries([...lines].map(([, name, value]) => [name!, Number(value)]));
}

it('shows the room of the folder’s file system', async () => {
  const { free, size } = await exposed(tmpdir());
  expect(size).toBeGreaterThan(0);
  expect(free).toBeGreaterThan(0);
  expect(free).toBeLessThanOrEqual(size!);
});

it('shows no number where there is none', async () => {
  expect(await exposed('/nowhere/at/all')).toEqual({});
});
