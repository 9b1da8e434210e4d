import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { runDemo } from '../../apps/simulator/src/run-demo';
import type { App, Stack } from '../../apps/simulator/src/stack/stack';
import { endTemporaryStack, startTemporaryStack } from '../stack';
import { readExposition, type Exposition, type Family } from './exposition';
import { expressions, ruleFile, rulesOf } from './monitoring-files';
import { TARGET_LABELS } from './outside-metrics';
import { parseQuery } from './promql';
import { problemsOf } from './series-check';

const APPS: readonly App[] = ['gateway', 'judge-svc', 'teacher-svc', 'dispatcher', 'trainer', 'engine', 'demo-judge'];
/** More series of one metric in one app than this, after a demo, and a label of it is not bounded. */
const MANY_SERIES = 60;

/** Labels of metrics that have no sample in a demo in which nothing goes wrong. */
const UNSEEN: Readonly<Record<string, readonly string[]>> = {
  hindcast_answers_flagged_total: ['flag'],
  hindcast_dead_letters_total: ['subject', 'code'],
  hindcast_engine_retries_total: ['reason'],
  hindcast_judge_failed_calls_total: ['reason'],
  hindcast_operations_refused_total: ['kind'],
  hindcast_requests_over_limit_total: ['limit'],
  hindcast_session_outcomes_total: ['order'],
  hindcast_trainer_canary_score: ['side'],
  hindcast_trainer_canary_turns: ['side'],
  hindcast_trainer_failures_total: ['step', 'code'],
  hindcast_trainer_samples_refused_total: ['reason'],
  hindcast_trainer_step_epoch_approx_kl_nats: ['epoch'],
  hindcast_trainer_step_epoch_clip_ratio: ['epoch'],
  hindcast_trainer_top_k_missing_total: ['reason'],
  hindcast_turns_untrainable_total: ['reason'],
};

// Rules and dashboards against what the services really expose.
describe('the metrics of a running stack', () => {
  let stack: Stack;
  const exposed: Exposition = new Map();
  const families = (): Family[] => [...new Set(exposed.values())];
  const own = (): Family[] => families().filter(({ name }) => name.startsWith('hindcast_'));

  beforeAll(async () => {
    // With a limit, so that what is left of it is told.
    stack = await startTemporaryStack({ settings: { ACK_WAIT_SECONDS: '3', JUDGE_BUDGET_CALLS: '1000000' } });
    await runDemo(stack, { sessions: 12, persona: 'student', feedback: 'mixed', method: 'combine', seed: 1 }, 300_000);
    for (const app of APPS) {
      const port = /^PORT="(\d+)"$/m.exec(readFileSync(stack.envFile(app), 'utf8'))![1];
      const response = await fetch(`http://127.0.0.1:${port}/metrics`);
      expect([app, response.status]).toEqual([app, 200]);
      readExposition(await response.text(), app, exposed);
    }
  });
  afterAll(() => endTemporaryStack(stack));

  it('every rule and every panel names metrics and labels that exist', () => {
    const recorded = new Map(
      rulesOf(ruleFile('recording-rules')).map(({ record, expr }) => [record!, labelsLeftBy(expr)]),
    );
    const known = { exposed, recorded, unseen: UNSEEN };
    const problems = expressions().flatMap(({ at, expr }) =>
      problemsOf(expr, known).map((problem) => `${at}: ${problem}`),
    );
    expect(problems).toEqual([]);
  });

  it('the labels of a metric are taken from its samples wherever there may be some', () => {
    expect(Object.keys(UNSEEN).filter((name) => !exposed.has(name))).toEqual([]);
    const queried = new Set(
      expressions().flatMap(({ expr }) => parseQuery(expr).selectors.map(({ metric }) => metric)),
    );
    // One that has none and of which labels are named would else be checked against nothing.
    const silent = own().filter(({ name, samples }) => samples === 0 && queried.has(name));
    expect(silent.map(({ name }) => name).filter((name) => !(name in UNSEEN) && isLabelled(name))).toEqual([]);
  });

  it('every metric of Hindcast stands in a panel or a rule', () => {
    const queried = new Set(
      expressions().flatMap(({ expr }) => parseQuery(expr).selectors.map(({ metric }) => exposed.get(metric)?.name)),
    );
    expect(
      own()
        .map(({ name }) => name)
        .filter((name) => !queried.has(name)),
    ).toEqual([]);
  });

  it('names and help texts follow the conventions of Prometheus', () => {
    const problems = families().flatMap(({ name, type, help, labels, samples, apps }) => [
      ...(help.length < 10 ? [`${name}: no help text`] : []),
      ...(/^hindcast_/.test(name) && (type === 'counter') !== name.endsWith('_total') ? [`${name} is a ${type}`] : []),
      ...(/_(ms|milliseconds|minutes|hours|kb|mb|percent)(_|$)/.test(name) ? [`${name}: no base unit`] : []),
      ...(/[A-Z-]|__/.test(name) ? [`${name}: not in snake case`] : []),
      ...(samples > MANY_SERIES * apps.size ? [`${name}: ${samples} series`] : []),
      // What the scrape adds would be renamed to exported_….
      ...[...labels].filter((label) => TARGET_LABELS.includes(label)).map((label) => `${name}: label ${label}`),
    ]);
    expect(problems).toEqual([]);
  });

  it('the documents name every metric of Hindcast, and no other', () => {
    const docs = join(__dirname, '../../docs');
    const listed = ['monitoring', 'metrics'].map((page) => readFileSync(join(docs, `${page}.md`), 'utf8')).join('\n');
    // Without the recorded ones, which have a colon before and after it.
    const documented = new Set([...listed.matchAll(/(?<!:)\bhindcast_\w+/g)].map(([name]) => name));
    const missing = own().filter(({ name }) => !documented.has(name));
    const gone = [...documented].filter((name) => !exposed.has(name) && !exposed.has(`${name}_count`));
    expect([missing.map(({ name }) => name), gone]).toEqual([[], []]);
  });
});

/** Of a recording rule: what its outermost aggregation keeps. */
function labelsLeftBy(expr: string): readonly string[] {
  const { groupings } = parseQuery(expr);
  return [...new Set(groupings.flatMap(({ labels }) => labels))];
}

/** Whether some expression names a label of it. */
const isLabelled = (name: string): boolean =>
  expressions().some(({ expr }) => {
    const { selectors, groupings } = parseQuery(expr);
    return (
      selectors.some(({ metric, matchers }) => metric === name && matchers.some(({ label }) => isOwn(label))) ||
      groupings.some(({ labels, over }) => over.some(({ metric }) => metric === name) && labels.some(isOwn))
    );
  });
const isOwn = (label: string): boolean => label !== 'app' && !TARGET_LABELS.includes(label);
