import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { until } from '../../../libs/platform/src/testing/until';
import { runPolicyCommand } from './commands/policy/program';
import { Bench } from './testing/bench';
import { TestTrainer } from './testing/test-trainer';

const bench = new Bench();
const trainer = new TestTrainer(bench);

async function policy(...args: string[]): Promise<{ code: number; output: string; said: string }> {
  const [output, said]: [string[], string[]] = [[], []];
  const code = await runPolicyCommand([...args, '--policy-dir', bench.policyDir], {
    env: bench.env(),
    print: (text) => output.push(text),
    say: (line) => said.push(line),
    width: 120,
    bars: null,
    confirm: () => Promise.resolve(false),
  });
  return { code, output: output.join('\n'), said: said.join('\n') };
}

const states = (): string[] => bench.manifests().map(({ state }) => state);

beforeEach(async () => {
  await bench.start();
});
afterEach(async () => {
  await trainer.stop();
  await bench.stop();
});

describe('a rollback', () => {
  it('while the trainer runs: engines, board, manifests and the bus know, and the next step starts from there', async () => {
    await trainer.start();
    await trainer.trainTo(3);
    const { code, output } = await policy('rollback', '1', '--yes', '--json', '--reason', 'too many lists');
    expect(code).toBe(0);
    expect(JSON.parse(output)).toMatchObject({ version: 1, from: 3, rolledBack: [3, 2], state: 'done' });
    expect(await bench.board()).toMatchObject({ version: 1, adapter: 'hindcast-v000001' });
    expect(states()).toEqual(['published', 'rolled-back', 'rolled-back']);
    expect(bench.manifests()[2]!.reason).toBe('rolled back to version 1: too many lists');
    const updates = (await bench.stored('policyUpdated')).map(({ body }) => `${body.version} ${body.state}`);
    expect(updates.slice(-2).sort()).toEqual(['2 rolled-back', '3 rolled-back']);
    expect(existsSync(join(bench.policyDir, 'rollback.json'))).toBe(false);

    await bench.publish({ policyVersion: 3 });
    await bench.publish({ policyVersion: 1 });
    await bench.serves(4);
    expect(bench.manifests()[3]).toMatchObject({ version: 4, parent: 1 });
    const step = (version: number): unknown => optimizerStep(version);
    expect([step(1), step(4)]).toEqual(['1', '2']);
  });

  it('to the base model, and while no trainer runs: it is done at the next start, before anything else', async () => {
    await trainer.start();
    await trainer.trainTo(2);
    await trainer.stop();
    const { code, output } = await policy('rollback', '0', '--yes');
    expect([code, output]).toEqual([0, 'Asked for: the trainer puts version 0 into service when it runs.']);
    expect(states()).toEqual(['published', 'published']);
    await trainer.start();
    await bench.serves(0);
    expect(await bench.board()).toMatchObject({ adapter: null });
    await until(() => String(states()) === 'rolled-back,rolled-back');
    await bench.publish();
    await bench.publish();
    await bench.serves(3);
    expect(bench.manifests()[2]).toMatchObject({ parent: 0 });
  });

  it('that no engine can follow is tried again, and the version that serves goes on until then', async () => {
    await trainer.start();
    await trainer.trainTo(2);
    await bench.engine.die();
    const asked = await policy('rollback', '1', '--yes', '--json', '--wait', '1');
    expect(JSON.parse(asked.output)).toMatchObject({ state: 'requested' });
    expect((await bench.board())?.version).toBe(2);
    expect(states()).toEqual(['published', 'published']);
    await bench.engine.start();
    await bench.serves(1);
    await until(() => String(states()) === 'published,rolled-back');
  });

  it.each([
    { target: '2', said: /version 2 serves already/ },
    { target: '7', said: /version 7 did not serve before version 2; these did: 1, 0/ },
    { target: 'x', said: /whole number/ },
  ])('to $target is refused', async ({ target, said }) => {
    await trainer.start();
    await trainer.trainTo(2);
    const result = await policy('rollback', target, '--yes');
    expect(result).toMatchObject({ code: 2, said: expect.stringMatching(said) as string });
    expect(states()).toEqual(['published', 'published']);
  });

  it('that cannot be read is thrown away, and the trainer starts', async () => {
    await trainer.start();
    await trainer.trainTo(1);
    await trainer.stop();
    writeFileSync(join(bench.policyDir, 'rollback.json'), '{"v');
    await trainer.start();
    await trainer.trainTo(2);
    expect(existsSync(join(bench.policyDir, 'rollback.json'))).toBe(false);
  });

  it('to a damaged version is refused by the trainer, and unanswered without a yes', async () => {
    await trainer.start();
    await trainer.trainTo(2);
    expect(await policy('rollback', '1')).toMatchObject({ code: 1, said: 'Nothing was changed.' });
    writeFileSync(join(bench.policyDir, 'v000001', 'adapter_config.json'), '{}');
    expect(await policy('rollback', '1', '--yes')).toMatchObject({
      code: 2,
      said: expect.stringContaining('adapter_config.json is not the file that was committed') as string,
    });
    expect(states()).toEqual(['published', 'published']);
    expect((await bench.board())?.version).toBe(2);
  });
});

describe('a version whose files are damaged by hand', () => {
  it.each([
    { file: 'adapter_model.safetensors', damage: flipByte, why: 'a byte of the weights' },
    { file: 'optimizer/optimizer.safetensors', damage: (path: string) => rmSync(path), why: 'the optimizer is gone' },
  ])('serves no longer after a start, and its turns stay trained: $why', async ({ file, damage }) => {
    await trainer.start();
    await trainer.trainTo(2);
    const trained = bench.manifests()[1]!.turnIds;
    await trainer.stop();
    damage(join(bench.policyDir, 'v000002', file));
    await trainer.start();
    await bench.serves(1);
    await until(() => states()[1] === 'rolled-back');
    expect(bench.manifests()[1]!.reason).toContain(`damaged: ${join(bench.policyDir, 'v000002', file)}`);
    for (const turnId of trained) await bench.publish({}, turnId, '.again');
    await until(async () => (await bench.unacknowledged()) === 0);
    await bench.publish({ policyVersion: 1 });
    await bench.publish({ policyVersion: 1 });
    await bench.serves(3);
    expect(bench.manifests()[2]).toMatchObject({ parent: 1 });
  });

  it('goes around every damaged one, to the base model if need be', async () => {
    await trainer.start();
    await trainer.trainTo(2);
    await trainer.stop();
    for (const version of ['v000001', 'v000002']) flipByte(join(bench.policyDir, version, 'adapter_model.safetensors'));
    await trainer.start();
    await bench.serves(0);
    await until(() => String(states()) === 'rolled-back,rolled-back');
  });

  it('whose manifest is gone keeps the trainer from starting, and the board as it is', async () => {
    await trainer.start();
    await trainer.trainTo(2);
    await trainer.stop();
    rmSync(join(bench.policyDir, 'v000002', 'manifest.json'));
    await expect(trainer.start()).rejects.toMatchObject({ code: 'policy-damaged' });
    expect((await bench.board())?.version).toBe(2);
  });

  it('and whose folder is gone: the newest that is there serves, and the number is never used again', async () => {
    await trainer.start();
    await trainer.trainTo(2);
    await trainer.stop();
    rmSync(join(bench.policyDir, 'v000002'), { recursive: true });
    await trainer.start();
    await bench.serves(1);
    await bench.publish({ policyVersion: 1 });
    await bench.publish({ policyVersion: 1 });
    await bench.serves(3);
    expect(bench.manifests().map(({ version, parent }) => [version, parent])).toEqual([
      [1, 0],
      [3, 1],
    ]);
  });
});

describe('the commands', () => {
  it('list, show and compare what a running trainer works with', async () => {
    await trainer.start({ KL_COEF: '0.1' });
    await trainer.trainTo(2);
    const listed = JSON.parse((await policy('list', '--json')).output) as { serves: number; versions: object[] };
    expect(listed.serves).toBe(2);
    expect(listed.versions).toMatchObject([
      { version: 2, parent: 1, state: 'published', samples: 2, hasWeights: true, serves: true, rewardMean: 1 },
      { version: 1, parent: 0, state: 'published', serves: false },
    ]);
    const table = (await policy('list')).output.split('\n');
    expect(table).toHaveLength(3);
    expect(table[1]).toMatch(/^\* +2 +published +1 /);

    const shown = JSON.parse((await policy('show', '2', '--json')).output) as object;
    expect(shown).toMatchObject({ version: 2, cases: { rl: 2 }, serves: true, turnIds: bench.manifests()[1]!.turnIds });
    expect((await policy('show', 'v2')).output).toMatch(/samples +2: 2 rl[\s\S]*reward_mean +1/);
    expect(await policy('show', '9')).toMatchObject({ code: 2, said: expect.stringMatching(/no version 9/) as string });

    const same = JSON.parse((await policy('diff', '2', '2', '--json')).output) as Difference;
    expect(same.groups.at(-1)).toMatchObject({ group: 'all', distance: 0, relative: 0 });
    const difference = JSON.parse((await policy('diff', '1', '2', '--json')).output) as Difference;
    expect(difference.hyperparameters).toEqual([]);
    expect(difference.groups.at(-1)!.distance).toBeGreaterThan(0);
    const base = JSON.parse((await policy('diff', '0', '1', '--json')).output) as Difference;
    expect(base.groups.find(({ group }) => group === 'self_attn.q_proj.lora_B')).toMatchObject({ relative: null });
    expect((await policy('diff', '0', '1')).output).toMatch(/L2 distance/);
  });

  it('write one model directory of base model and adapter', async () => {
    await trainer.start();
    await trainer.trainTo(1);
    const folder = join(bench.policyDir, '..', 'merged');
    expect(await policy('export-merged', '1', folder, '--json')).toMatchObject({ code: 0 });
    expect(readdirSync(folder).sort()).toEqual([
      'config.json',
      'model.safetensors',
      'tokenizer.json',
      'tokenizer_config.json',
    ]);
    expect(await policy('export-merged', '1', folder)).toMatchObject({ code: 2 });
  });
});

interface Difference {
  readonly hyperparameters: readonly object[];
  readonly groups: readonly { readonly group: string; readonly distance: number }[];
}

function flipByte(path: string): void {
  const bytes = readFileSync(path);
  bytes[bytes.length - 1]! ^= 1;
  writeFileSync(path, bytes);
}

/** Steps of Adam that a version's moments are the result of. */
function optimizerStep(version: number): unknown {
  const bytes = readFileSync(join(bench.policyDir, `v00000${version}`, 'optimizer/optimizer.safetensors'));
  const header = bytes.subarray(8, 8 + Number(bytes.readBigUInt64LE())).toString();
  return (JSON.parse(header) as { __metadata__: { step: string } }).__metadata__.step;
}
