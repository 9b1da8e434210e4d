import { statfs } from 'node:fs/promises';
import type { Metrics } from '@hindcast/platform';

/** Shows on `/metrics` how much room the file system of the policy's folder has. One that does not say has no series. */
export function exportDiskRoom(metrics: Metrics, folder: string): void {
  const free = metrics.gauge('trainer_policy_disk_free_bytes', 'Free bytes of the file system of POLICY_DIR');
  const size = metrics.gauge('trainer_policy_disk_size_bytes', 'Bytes that the file system of POLICY_DIR has');
  metrics.onScrape('disk', async () => {
    const { bavail = 0, blocks = 0, bsize = 0 } = (await statfs(folder).catch(() => null)) ?? {};
    if (blocks === 0) {
      free.remove();
      size.remove();
      return;
    }
    free.set(bavail * bsize);
    size.set(blocks * bsize);
  });
}
