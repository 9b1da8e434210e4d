import type { CurrentPolicy, Overview } from '@hindcast/contracts';
import { overviewAnswer } from '../../testing/fake-ledger';
import { eventText, feedStep } from './feed';
import { overviewOf, type OverviewParts } from './overview';

const policy: CurrentPolicy = {
  version: 2,
  adapter: 'hindcast-v000002',
  engines: [],
  weights: 'named',
  canary: null,
  at: 7,
};
const overview = (change: Partial<OverviewParts> = {}): Overview =>
  overviewOf({
    ledger: overviewAnswer(),
    trainer: null,
    policy,
    engines: [],
    services: [],
    isConnected: true,
    replicas: 3,
    ...change,
  });
const { status } = overviewAnswer();
const canary = { version: 3, adapter: 'hindcast-v000003', engines: [], share: 0.1, at: 8 };

const steps: { why: string; then: Overview; names: string[] }[] = [
  { why: 'nothing changed', then: overview(), names: [] },
  { why: 'the broker went', then: overview({ isConnected: false }), names: ['overview'] },
  {
    why: 'a turn came',
    then: overview({ ledger: overviewAnswer({ turnsRevision: '2' }) }),
    names: ['overview', 'turns'],
  },
  {
    why: 'a step was made, and refused',
    then: overview({ ledger: overviewAnswer({ status: { ...status, steps: 1 } }) }),
    names: ['overview', 'steps'],
  },
  {
    why: 'another version serves',
    then: overview({ policy: { ...policy, version: 1 } }),
    names: ['overview', 'steps'],
  },
  { why: 'a version is on trial', then: overview({ policy: { ...policy, canary } }), names: ['overview', 'steps'] },
  { why: 'the ledger went', then: overview({ ledger: null }), names: ['overview'] },
];
it.each(steps)('$names: $why', ({ then, names }) => {
  const { state } = feedStep(null, overview());
  expect(feedStep(state, then).events.map(({ name }) => name)).toEqual(names);
});

it('the first look tells the overview alone', () => {
  expect(feedStep(null, overview()).events).toEqual([{ name: 'overview', data: overview() }]);
});

it('a ledger that comes back with what it had changes no list; with more, it does', () => {
  const first = feedStep(null, overview()).state;
  const away = feedStep(first, overview({ ledger: null })).state;
  expect(feedStep(away, overview()).events.map(({ name }) => name)).toEqual(['overview']);
  const more = overview({ ledger: overviewAnswer({ turnsRevision: '9' }) });
  expect(feedStep(away, more).events.map(({ name }) => name)).toEqual(['overview', 'turns']);
});

it('an event is one block whatever its data', () => {
  expect(eventText({ name: 'turns', data: { revision: 'a\nb' } })).toBe('event: turns\ndata: {"revision":"a\\nb"}\n\n');
});

it('the overview names what streams survive, and no settings', () => {
  expect(overview().broker).toEqual({ ok: true, durability: 'power-loss' });
  expect(overview({ replicas: 1 }).broker.durability).toBe('process-death');
  expect(overview({ replicas: null }).broker.durability).toBeNull();
  const report = {
    app: 'trainer',
    instance: 'a:1',
    release: '0.1.0',
    node: 'v20',
    startedAt: 1,
    ready: true,
    checks: [],
    settings: [{ name: 'A', value: 'b', isSecret: false, isSet: true, isGiven: true }],
  };
  expect(overview({ services: [report] }).services).toEqual([
    { app: 'trainer', instance: 'a:1', release: '0.1.0', node: 'v20', startedAt: 1, ready: true, checks: [] },
  ]);
});
