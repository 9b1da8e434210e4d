import { until } from '../../../libs/platform/src/testing/until';
import { reply } from './testing/fake-judge';
import { JudgeBench, pairedTurn } from './testing/judge-bench';

let bench: JudgeBench;
beforeAll(async () => {
  bench = await JudgeBench.open();
});
afterAll(() => bench.close());
afterEach(() => bench.reset());

const yes: Parameters<JudgeBench['start']>[0] = (_call, _n, response) => reply(response, '\\boxed{1}');
const twoVotes = { EVAL_VOTES: '1', HINT_VOTES: '1', JUDGE_STRUCTURED: 'off' };

/** As if an hour had passed. */
const forget = async (): Promise<void> => (await bench.bucket('judgeBudget')).delete('account');

/** Until so many turns are judged and all others are in a service's hands and wait there. */
const settled = (judged: number, waiting: number): Promise<void> =>
  until(async () => {
    const { inHand, waiting: pending } = await bench.consumer();
    return bench.count === judged && inHand === waiting && pending === 0;
  });

it('replicas share a budget of calls; over it turns wait whole, none is lost, no delivery is counted', async () => {
  const env = { ...twoVotes, JUDGE_BUDGET_CALLS: '5' };
  await bench.start(yes, env);
  await bench.addService({ ...env, JUDGE_BASE_URL: bench.judge.baseUrl });
  for (let i = 0; i < 5; i++) await bench.publish();
  await settled(2, 3);
  // A third turn would fit with one of its votes: it is not begun.
  expect(bench.judge.calls).toHaveLength(4);
  expect(await bench.metrics()).toMatch(/hindcast_judge_budget_left\{unit="calls".*\} 1\n/);
  await forget();
  await settled(4, 1);
  expect(bench.judge.calls).toHaveLength(8);
  await forget();
  await settled(5, 0);
  expect((await bench.consumer()).redelivered).toBe(0);
});

it('a budget of tokens is charged with what the judge counted', async () => {
  await bench.start(yes, { ...twoVotes, JUDGE_BUDGET_TOKENS: '90' });
  // The first is let through whatever the guess says, as nothing was spent; each vote then took 14.
  for (let i = 0; i < 3; i++) await bench.judged();
  await bench.publish();
  await settled(3, 1);
  expect(bench.judge.calls).toHaveLength(6);
  expect(await bench.metrics()).toMatch(/hindcast_judge_budget_left\{unit="tokens".*\} 6\n/);
});

it('a budget of money is charged by the prices', async () => {
  const prices = { JUDGE_PRICE_PROMPT: '1000000', JUDGE_PRICE_COMPLETION: '2000000' };
  await bench.start(yes, { ...twoVotes, ...prices, JUDGE_BUDGET_COST: '80' });
  // A vote costs 9 · 1 + 5 · 2.
  for (let i = 0; i < 2; i++) expect((await bench.judged()).body.evalVotes[0]!.cost).toBe(19);
  await bench.publish();
  await settled(2, 1);
  expect(bench.judge.calls).toHaveLength(4);
});

it('what was tried again is charged too', async () => {
  await bench.start((_call, n, response) => (n === 1 ? response.socket!.destroy() : reply(response, '\\boxed{1}')), {
    ...twoVotes,
    JUDGE_BUDGET_CALLS: '4',
  });
  await bench.judged();
  await bench.publish();
  await settled(1, 1);
  expect(bench.judge.calls).toHaveLength(3);
});

it('a turn that needs no vote needs no budget', async () => {
  await bench.start(yes, { ...twoVotes, JUDGE_BUDGET_CALLS: '2' });
  await bench.judged();
  expect((await bench.judged(pairedTurn({ nextState: [] }))).body.evalVotes).toEqual([]);
});

it('an account that cannot be read begins anew', async () => {
  await (await bench.bucket('judgeBudget')).put('account', '{"not":"an account"}');
  await bench.start(yes, { ...twoVotes, JUDGE_BUDGET_CALLS: '2' });
  expect((await bench.judged()).body.evalScore).toBe(1);
});
