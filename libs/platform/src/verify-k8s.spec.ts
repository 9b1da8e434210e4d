import { spawnSync } from 'node:child_process';
import { join, resolve } from 'node:path';

const tool = resolve(__dirname, '../../../tools/verify-k8s');

/** What functions of the tool answer; it is made of ES modules, which these tests are not. */
function answers(file: string, calls: readonly (readonly [name: string, ...args: unknown[]])[]): unknown[] {
  const script = `
    const tool = await import(${JSON.stringify(join(tool, file))});
    const calls = JSON.parse(process.argv[1]);
    process.stdout.write(JSON.stringify(calls.map(([name, ...args]) => tool[name](...args))));`;
  const { stdout, stderr } = spawnSync(
    process.execPath,
    ['--input-type=module', '--eval', script, JSON.stringify(calls)],
    { encoding: 'utf8' },
  );
  if (stdout === '') throw new Error(stderr);
  return JSON.parse(stdout) as unknown[];
}

const pod = (name: string, gpus: number, nodeName?: string): object => ({
  metadata: { name, labels: { app: name, more: 'x' } },
  spec: {
    nodeName,
    containers: [{ resources: { limits: { cpu: '1', ...(gpus > 0 && { 'nvidia.com/gpu': gpus }) } } }],
  },
});

describe('where pods are', () => {
  it('a pod that asks for a GPU belongs on a node that has one, and no other pod does', () => {
    const pods = [
      pod('a', 1, 'gpu-1'),
      pod('b', 0, 'plain-1'),
      pod('c', 0, 'gpu-1'),
      pod('d', 1, 'plain-1'),
      pod('e', 1),
    ];
    expect(answers('core/pods.mjs', [['misplaced', pods, ['gpu-1']]])[0]).toEqual([
      'c (0 GPUs) is on gpu-1',
      'd (1 GPUs) is on plain-1',
    ]);
  });

  it('GPUs of all containers count', () => {
    const container = { resources: { limits: { 'nvidia.com/gpu': '2' } } };
    const spec = { containers: [container, container, {}] };
    expect(
      answers('core/pods.mjs', [
        ['gpusOf', spec],
        ['gpusOf', {}],
      ]),
    ).toEqual([4, 0]);
  });

  it('a product comes from a required affinity, a preferred one or a selector', () => {
    const expressions = {
      matchExpressions: [{ key: 'nvidia.com/gpu.product', operator: 'In', values: ['L4', 'H100'] }],
    };
    const required = { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [expressions] } };
    const preferred = { preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 1, preference: expressions }] };
    expect(
      answers('core/pods.mjs', [
        ['productOf', { affinity: { nodeAffinity: required } }],
        ['productOf', { affinity: { nodeAffinity: preferred } }],
        ['productOf', { nodeSelector: { 'nvidia.com/gpu.product': 'T4' } }],
        ['productOf', {}],
      ]),
    ).toEqual(['L4', 'L4', 'T4', null]);
  });

  it('a pod belongs to the template all of whose labels it carries', () => {
    const pods = [pod('a', 0), pod('b', 0)];
    expect(answers('core/pods.mjs', [['podsOf', pods, { labels: { app: 'b', more: 'x' } }]])[0]).toEqual([pods[1]]);
  });
});

describe('how many replicas a backlog asks for', () => {
  const scaled = {
    minReplicaCount: 1,
    maxReplicaCount: 8,
    triggers: [{ metadata: { lagThreshold: '30', activationLagThreshold: '5' } }],
  };
  const rows: readonly (readonly [why: string, lag: number, spec: object, replicas: number])[] = [
    ['nothing waits', 0, scaled, 1],
    ['less than activates', 5, { ...scaled, minReplicaCount: 0 }, 0],
    ['a few wait', 6, { ...scaled, minReplicaCount: 0 }, 1],
    ['two replicas’ worth', 31, scaled, 2],
    ['more than the cap', 500, scaled, 8],
    ['nothing waits and it may idle', 0, { ...scaled, idleReplicaCount: 0 }, 0],
    ['no numbers are given', 11, { triggers: [{ metadata: {} }] }, 2],
  ];
  it('is as many as its threshold says, within the bounds', () => {
    const given = answers(
      'core/scaling.mjs',
      rows.map(([, lag, spec]) => ['replicasAt', lag, spec]),
    );
    expect(rows.map(([why], index) => [why, given[index]])).toEqual(rows.map(([why, , , replicas]) => [why, replicas]));
  });
});

describe('a rolling update', () => {
  it('holds when it is done and never had fewer available than at first', () => {
    const before = { generation: 1, observed: 1, wanted: 2, replicas: 2, updated: 2, available: 2 };
    const during = { generation: 2, observed: 2, wanted: 2, replicas: 3, updated: 1, available: 2 };
    const done = { generation: 2, observed: 2, wanted: 2, replicas: 2, updated: 2, available: 2 };
    const rows: readonly (readonly [samples: readonly object[], verdict: object])[] = [
      [[before, during, done], { lowest: 2, isDone: true, holds: true }],
      [[before, { ...during, available: 1 }, done], { lowest: 1, isDone: true, holds: false }],
      // The controller has not seen the change.
      [[before, { ...before, generation: 2 }], { lowest: 2, isDone: false, holds: false }],
      // An old pod is left, not replaced yet or replaced already.
      [[before, { ...done, replicas: 3 }], { lowest: 2, isDone: false, holds: false }],
      [[before, during], { lowest: 2, isDone: false, holds: false }],
    ];
    const given = answers(
      'core/scaling.mjs',
      rows.map(([samples]) => ['rolloutVerdict', samples]),
    );
    expect(given).toEqual(rows.map(([, verdict]) => verdict));
  });
});

describe('npm run verify:k8s', () => {
  const verify = (...args: string[]): { status: number | null; stdout: string; stderr: string } =>
    spawnSync(process.execPath, [join(tool, 'main.mjs'), ...args], { encoding: 'utf8' });

  it('says how it is used', () => {
    const { status, stdout } = verify('--help');
    expect({ status, start: stdout.split('\n')[0] }).toEqual({
      status: 0,
      start: 'Usage: npm run verify:k8s -- [options]',
    });
  });

  it.each([
    ['an option it does not know', ['--wrong'], '--wrong'],
    ['a proof it does not know', ['--only', 'overlays,nothing'], 'no proof is called nothing'],
  ])('refuses %s', (_, args, why) => {
    const { status, stderr } = verify(...args);
    expect(status).toBe(2);
    expect(stderr).toContain(why);
  });

  it('prints a line per proof', () => {
    const proof = { name: 'overlays', ok: false, detail: 'why', seconds: 12.4 };
    expect(
      answers('core/report.mjs', [
        ['lineOf', proof],
        ['lineOf', { ...proof, ok: true }],
      ]),
    ).toEqual(['not ok — overlays: why (12 s)', 'ok — overlays: why (12 s)']);
  });
});
