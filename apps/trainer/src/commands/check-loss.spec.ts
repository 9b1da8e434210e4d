import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import combinedVectors from '../core/loss/reference-combined-loss.json';
import { runCheckLoss, type LossReport } from './check-loss';

const FILE = join(__dirname, '../core/loss/reference-combined-loss.json');
let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'hindcast-loss-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function run(...args: string[]): Promise<{ code: number; out: string; err: string }> {
  const [out, err]: [string[], string[]] = [[], []];
  const code = await runCheckLoss(args, { print: (text) => out.push(text), say: (line) => err.push(line) });
  return { code, out: out.join('\n'), err: err.join('\n') };
}

function fileOf(content: unknown): string {
  const path = join(folder, 'vectors.json');
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
  return path;
}

const sample = (over: object = {}) => ({
  new: [-1, -2],
  rollout: [-1, -2],
  recomputed: [-1, -2],
  ref: [-1, -2],
  teacher: [-1, -2],
  reward: 1,
  mask: [1, 1],
  ...over,
});
const vector = (over: object = {}, cfg: object = {}) => ({
  cfg: { w_opd: 1, w_rl: 1, eps_low: 0.2, eps_high: 0.28, old: 'rollout', kl_type: 'k1', kl_coef: 0, ...cfg },
  samples: [sample()],
  loss_sum_over_samples: -1,
  grad_wrt_new: [[-0.5, -0.5]],
  ...over,
});
const checked = async (content: unknown): Promise<LossReport> =>
  JSON.parse((await run(fileOf(content), '--json')).out) as LossReport;

describe('check:loss', () => {
  it.each(['cpu', 'onnx', 'wasm'])('finds loss and gradients of the reference within 2e-6 on %s', async (backend) => {
    const { code, out } = await run(FILE, '--json', '--backend', backend);
    const report = JSON.parse(out) as LossReport;
    expect(report).toMatchObject({ cases: 40, samples: 112, backend, ok: true });
    expect(report.loss).toBeLessThan(1e-6);
    expect(report.gradient).toBeLessThan(1e-6);
    for (const difference of Object.values(report.metrics)) expect(difference).toBeLessThan(2e-6);
    expect(Object.keys(report.metrics).sort()).toEqual(
      ['kl_loss', 'loss', 'pg_clipfrac', 'pg_loss', 'ppo_kl', 'train_rollout_logprob_abs_diff'].sort(),
    );
    expect(code).toBe(0);
  });

  it('adds a thousand samples as exactly as one: their losses are summed in float64', async () => {
    const one = combinedVectors.cases[0]!;
    const times = 400;
    const many = {
      ...one,
      samples: Array.from({ length: times }, () => one.samples).flat(),
      grad_wrt_new: Array.from({ length: times }, () => one.grad_wrt_new).flat(),
      loss_sum_over_samples: 0,
      metrics: {},
    };
    const single = (await checked({ cases: [{ ...one, loss_sum_over_samples: 0 }] })).loss;
    const { loss, gradient } = await checked({ cases: [many] });
    expect(Math.abs(loss - times * single)).toBeLessThan(1e-9);
    expect(gradient).toBeLessThan(1e-6);
  });

  it('prints the differences for a person, and fails beyond the tolerance', async () => {
    const good = await run(fileOf({ cases: [vector()] }));
    expect(good.out).toContain('1 cases, 1 samples, on cpu');
    expect(good.out).toContain('within 0.000002');
    expect(good.code).toBe(0);
    const bad = await run(fileOf({ cases: [vector({ loss_sum_over_samples: -1.000003 })] }));
    expect(bad.out).toMatch(/^ {2}loss +3\.00e-6$/m);
    expect(bad.code).toBe(1);
    expect((await run(fileOf({ cases: [vector({ grad_wrt_new: [[-0.5, -0.500003]] })] }))).code).toBe(1);
  });

  it.each([
    {
      cfg: { eps_clip_c: 3 },
      over: { new: [2, -2] },
      loss: (3 * 1 + 1) / 2,
      gradient: [0, 0.5],
      why: 'dual clip at c = 3',
    },
    { cfg: { use_tis: true, tis_clip: 2 }, over: {}, loss: 1, gradient: [0.5, 0.5], why: 'importance weights of 1' },
    {
      cfg: { old: 'recomputed', use_tis: true, tis_clip: 2 },
      over: { rollout: [-3, -2] },
      loss: (2 + 1) / 2,
      gradient: [1, 0.5],
      why: 'an importance weight of e² is cut to 2',
    },
    { cfg: { opd_advantage_limit: 1 }, over: { teacher: [-9, -2] }, loss: 1.5, gradient: [1, 0.5], why: '|A_opd| ≤ 1' },
    { cfg: { calculate_per_token_loss: true }, over: {}, loss: 2, gradient: [1, 1], why: 'sums over tokens' },
    {
      cfg: { entropy_coef: 0.5 },
      over: { entropy: [2, 4] },
      loss: 1 - 1.5,
      gradient: [0.5, 0.5],
      why: 'entropy as given',
    },
    { cfg: {}, over: { mask: null }, loss: 1, gradient: [0.5, 0.5], why: 'no mask: every token counts' },
    { cfg: {}, over: { mask: [0, 0] }, loss: 0, gradient: [0, 0], why: 'no token counts' },
    { cfg: { w_opd: 3 }, over: { teacher: null }, loss: 1, gradient: [0.5, 0.5], why: 'no teacher: A_opd = 0' },
    { cfg: { kl_coef: 1, kl_type: 'k2' }, over: { ref: [-3, -2] }, loss: 2, gradient: [1.5, 0.5], why: 'k2' },
  ])('reads the options of a case: $why', async ({ cfg, over, loss, gradient }) => {
    const content = vector(
      { samples: [sample({ reward: -1, ...over })], loss_sum_over_samples: loss, grad_wrt_new: [gradient] },
      cfg,
    );
    const report = await checked([content]);
    expect(report.loss).toBeLessThan(1e-6);
    expect(report.gradient).toBeLessThan(1e-6);
  });

  it('a number that float32 cannot hold is beyond every tolerance, whatever comes after it', async () => {
    const overflowing = vector({ samples: [sample({ new: [-1e39, -2], rollout: [-1e39, -2] })] });
    const { code, out } = await run(fileOf({ cases: [overflowing, vector()] }));
    expect(out).toMatch(/^ {2}loss +NaN$/m);
    expect(code).toBe(1);
  });

  it.each([
    { content: '{', message: /^not JSON/ },
    { content: {}, message: /cases/ },
    { content: { cases: [] }, message: /cases/ },
    { content: { cases: [vector({}, { kl_type: 'k4' })] }, message: /cases\.0\.cfg\.kl_type/ },
    {
      content: { cases: [vector({ samples: [sample({ teacher: [-1] })] })] },
      message: 'cases.0.samples.0.teacher: has 1 numbers, new has 2',
    },
    {
      content: { cases: [vector({ samples: [sample({ rollout: null })] })] },
      message: 'cases.0.samples.0.rollout: is missing',
    },
    {
      content: { cases: [vector({ grad_wrt_new: [[-0.5]] })] },
      message: 'cases.0.grad_wrt_new.0: has 1 numbers, the sample has 2',
    },
    { content: { cases: [vector({ samples: [sample({ new: [null, -1] })] })] }, message: /samples\.0\.new\.0/ },
  ])('refuses a bad file with its place: $message', async ({ content, message }) => {
    const { code, err, out } = await run(fileOf(content));
    expect(err).toMatch(message);
    expect(out).toBe('');
    expect(code).toBe(2);
  });

  it('names the options that it does not have, and lets the numbers decide', async () => {
    const content = { cases: [vector({}, { name: 'first', gamma: 0.9 })] };
    const { code, err } = await run(fileOf(content));
    expect(err).toBe('Options that this loss does not have: gamma, name');
    expect(code).toBe(0);
    expect(await checked(content)).toMatchObject({ ignoredOptions: ['gamma', 'name'] });
  });

  it('takes a case without options, a sample without tokens and one without a reward', async () => {
    const empty = sample({ new: [], rollout: [], recomputed: [], ref: [], teacher: [], mask: [] });
    const samples = [sample({ reward: null, teacher: [-0.5, -2] }), empty];
    const report = await checked([{ samples, loss_sum_over_samples: -0.25, grad_wrt_new: [[-0.25, 0], []] }]);
    expect(report).toMatchObject({ loss: 0, gradient: 0, ok: true });
  });

  it('says how it is used', async () => {
    expect((await run('--help')).out).toContain('npm run check:loss --');
    expect(await run()).toMatchObject({ code: 2, err: expect.stringContaining("missing required argument 'file'") });
    expect(await run('nowhere.json')).toMatchObject({ code: 2, err: 'nowhere.json cannot be read: ENOENT' });
  });
});
