import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { recordsOf } from '../core/event-file-reading';
import { messageOf } from '../testing/protobuf-reader';
import { pythonWith } from '../testing/python';
import { reportedStep } from '../testing/reported-step';
import { TensorBoardLog } from './tensorboard-log';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'hindcast-tensorboard-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const upTo = (version: number) => Array.from({ length: version }, (_, i) => reportedStep(i + 1));
const files = (): string[] => readdirSync(folder).sort();

/** What a file's records are, by version: `head`, `restart <step>` or `<step>`. */
function recordsIn(name: string): string[] {
  return [...recordsOf(readFileSync(join(folder, name)))].map((data) => {
    const event = messageOf(data);
    if (event.messages(5).length > 0) return String(event.varint(2));
    return event.messages(7).length > 0 ? `restart ${event.varint(2)}` : 'head';
  });
}

/** A run of the trainer: what was committed before it, and what it commits. */
async function run(before: number, steps: number): Promise<void> {
  const log = new TensorBoardLog(folder);
  await log.catchUp(upTo(before));
  for (const step of upTo(before + steps).slice(before)) await log.report(step);
}

describe('a folder of events', () => {
  it('gets a file per run, each named after the others, and nothing for a run without a step', async () => {
    await run(0, 0);
    expect(files()).toEqual([]);
    await run(0, 2);
    await run(2, 0);
    await run(2, 1);
    expect(files()).toEqual([
      expect.stringMatching(/^events\.out\.tfevents\.1700000001\./),
      expect.stringMatching(/^events\.out\.tfevents\.1700000003\./),
    ]);
    expect(files().map(recordsIn)).toEqual([
      ['head', 'restart 1', '1', '2'],
      ['head', 'restart 3', '3'],
    ]);
  });

  it('a file of a clock that ran ahead is still followed by the next one', async () => {
    writeFileSync(join(folder, 'events.out.tfevents.1800000000.elsewhere.7'), '');
    await run(0, 1);
    expect(files()[1]).toMatch(/^events\.out\.tfevents\.1800000001\./);
  });

  it('gets at the next start what a crash between commit and report left out', async () => {
    await run(0, 1);
    await run(3, 1);
    expect(files().map(recordsIn)).toEqual([
      ['head', 'restart 1', '1'],
      ['head', 'restart 2', '2', '3', '4'],
    ]);
  });

  it('a record that was cut off is written again, in a new file', async () => {
    await run(0, 2);
    const [name] = files();
    truncateSync(join(folder, name!), readFileSync(join(folder, name!)).length - 9);
    await run(2, 1);
    expect(files().map(recordsIn)).toEqual([
      ['head', 'restart 1', '1'],
      ['head', 'restart 2', '2', '3'],
    ]);
  });

  it('a gap is filled with all that came after it, and the restart takes those back from the earlier file', async () => {
    const log = new TensorBoardLog(folder);
    await log.catchUp([]);
    await log.report(reportedStep(1));
    await log.report(reportedStep(3));
    await log.catchUp(upTo(3));
    expect(files().map(recordsIn)).toEqual([
      ['head', 'restart 1', '1', '3'],
      ['head', 'restart 2', '2', '3'],
    ]);
  });

  it('what belongs to others is left alone', async () => {
    writeFileSync(join(folder, 'notes.txt'), 'mine');
    await run(0, 1);
    expect(readFileSync(join(folder, 'notes.txt'), 'utf8')).toBe('mine');
  });
});

const python = pythonWith('tensorboard');
const itReal = python ? it : it.skip;

itReal(
  'TensorBoard itself shows each step once, after a crash and a gap (skipped without HINDCAST_PYTHON with tensorboard)',
  async () => {
    await run(0, 3);
    const [name] = files();
    truncateSync(join(folder, name!), readFileSync(join(folder, name!)).length - 9);
    await run(4, 1);
    const reader = join(__dirname, '../../../../tools/reference/read-tensorboard.py');
    const shown = JSON.parse(
      execFileSync(python!, [reader, folder], { stdio: ['ignore', 'pipe', 'ignore'] }).toString(),
    ) as {
      plugins: Record<string, string>;
      scalars: Record<string, [number, number, number][]>;
      histograms: Record<string, [number, [number, number, number][]][]>;
    };
    expect(shown.plugins).toEqual({ 'loss/total': 'scalars', grad_norm: 'scalars', advantage: 'histograms' });
    expect(shown.scalars['grad_norm']).toEqual(upTo(5).map(({ version, at }) => [version, at / 1000, version]));
    expect(shown.scalars['loss/total']!.map(([, , value]) => value)).toEqual(
      upTo(5).map(({ version }) => Math.fround(-1 / version)),
    );
    expect(shown.histograms['advantage']!.map(([step]) => step)).toEqual([1, 2, 3, 4, 5]);
    const [, buckets] = shown.histograms['advantage']![4]!;
    expect(buckets[0]![0]).toBe(0);
    expect(buckets.at(-1)![1]).toBe(5);
    expect(buckets.reduce((sum, [, , count]) => sum + count, 0)).toBe(3);
  },
);
