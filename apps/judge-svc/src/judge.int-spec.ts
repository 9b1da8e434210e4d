import { setTimeout as sleep } from 'node:timers/promises';
import { asksForHint, JudgeBench } from './testing/judge-bench';
import { until } from '../../../libs/platform/src/testing/until';
import { refuse, reply } from './testing/fake-judge';

let bench: JudgeBench;
beforeAll(async () => {
  bench = await JudgeBench.open();
});
afterAll(() => bench.close());
afterEach(() => bench.reset());

it('asks for m scores and m hints at once and publishes the judgement with every vote', async () => {
  const waiting: (() => void)[] = [];
  await bench.start((call, _n, response) => {
    waiting.push(() =>
      reply(
        response,
        asksForHint(call) ? '\\boxed{1}\n[HINT_START]write without bold type[HINT_END]' : 'It failed. \\boxed{-1}',
      ),
    );
    // Nothing is answered before all six calls are there: they are in flight together or this test never ends.
    if (waiting.length === 6) waiting.forEach((answer) => answer());
  });
  const message = await bench.judged();
  expect(message).toMatchObject({
    tenant: 'acme',
    body: { evalScore: -1, hint: 'write without bold type', rewardSource: 'votes', judgeModel: 'j', policyVersion: 2 },
  });
  expect(message.body.evalVotes.map((vote) => vote.score)).toEqual([-1, -1, -1]);
  expect(message.body.hintVotes.map((vote) => vote.promptTokens)).toEqual([9, 9, 9]);
  // No price is known, so no cost is.
  expect(message.body.hintVotes.map((vote) => vote.cost)).toEqual([null, null, null]);
  expect(bench.judge.calls[0]!.headers.authorization).toBe('Bearer judge-key');
  expect(JSON.stringify(message)).not.toContain('judge-key');
});

it('tries again after 429 and 503, and gives up at once on a 400', async () => {
  let failures = 0;
  await bench.start(
    (call, _n, response) => {
      if (asksForHint(call)) return refuse(response, 400);
      if (failures < 2) return refuse(response, failures++ === 0 ? 429 : 503);
      reply(response, '\\boxed{1}');
    },
    { EVAL_VOTES: '1', HINT_VOTES: '1', JUDGE_STRUCTURED: 'off' },
  );
  const { body } = await bench.judged();
  expect(body.evalVotes).toMatchObject([{ score: 1, abstained: null }]);
  expect(body.hintVotes).toMatchObject([{ score: null, abstained: 'error' }]);
  expect(bench.judge.calls.filter(asksForHint)).toHaveLength(1);
});

it.each([
  { header: '3600', form: 'seconds' },
  { header: new Date(Date.now() + 3_600_000).toUTCString(), form: 'a date' },
])(
  'does not ask again before Retry-After ($form), and abstains when that is beyond the deadline',
  async ({ header }) => {
    await bench.start((_call, _n, response) => refuse(response, 429, { 'retry-after': header }), {
      EVAL_VOTES: '1',
      HINT_VOTES: '0',
    });
    const turnId = await bench.publish();
    await bench.failures(1);
    // Unasked the next try would have come after 0.3 s at most.
    await sleep(500);
    bench.clocks.strike();
    await until(() => bench.count === 1);
    const { body } = bench.of(turnId)!;
    expect(body.evalVotes).toMatchObject([{ score: null, abstained: 'error' }]);
    expect(bench.judge.calls).toHaveLength(1);
  },
);

it('a vote that waits for its next try leaves its slot to others', async () => {
  await bench.start(
    (_call, n, response) => (n === 1 ? refuse(response, 429, { 'retry-after': '1' }) : reply(response, '\\boxed{1}')),
    { EVAL_VOTES: '1', HINT_VOTES: '1', JUDGE_CONCURRENCY: '1' },
  );
  await bench.judged();
  // Who came first is asked again last.
  expect(bench.judge.calls.map(asksForHint)).toEqual([false, true, false]);
});

it('never has more calls in flight than JUDGE_CONCURRENCY', async () => {
  await bench.start((_call, _n, response) => setTimeout(() => reply(response, '\\boxed{1}'), 5), {
    JUDGE_CONCURRENCY: '2',
  });
  await bench.judged();
  expect(bench.judge.mostAtOnce()).toBeLessThanOrEqual(2);
});

it('the clock of a vote begins with its slot, not with its turn', async () => {
  await bench.start((_call, n, response) => (n === 1 ? undefined : reply(response, '\\boxed{1}')), {
    JUDGE_CONCURRENCY: '1',
    HINT_VOTES: '0',
  });
  const turnId = await bench.publish();
  await until(() => bench.judge.calls.length === 1);
  // The deadline of the vote that has the slot; the two that wait for it have none yet.
  bench.clocks.strike();
  await until(() => bench.count === 1);
  expect(bench.of(turnId)!.body.evalVotes.map((vote) => vote.abstained)).toEqual(['timeout', null, null]);
});

it('takes no more turns than its calls suffice for, so that another process gets its share', async () => {
  const settings = { EVAL_VOTES: '1', HINT_VOTES: '1', JUDGE_CONCURRENCY: '4' };
  await bench.start(() => undefined, settings);
  for (let i = 0; i < 10; i++) await bench.publish();
  const consumerIs = (inHand: number, waiting: number) => async (): Promise<boolean> => {
    const now = await bench.consumer();
    return now.inHand === inHand && now.waiting === waiting;
  };
  await until(consumerIs(2, 8));
  await bench.addService({ ...settings, JUDGE_BASE_URL: bench.judge.baseUrl });
  await until(consumerIs(4, 6));
  await until(() => bench.judge.mostAtOnce() === 8);
});

it('leaves a judge alone that fails all the time, and comes back to it', async () => {
  let healthy = false;
  await bench.start((_call, _n, response) => (healthy ? reply(response, '\\boxed{1}') : refuse(response, 500)), {
    EVAL_VOTES: '20',
    HINT_VOTES: '0',
    JUDGE_STRUCTURED: 'off',
  });
  await bench.judgedAfterFailures(20);
  expect(await bench.metrics()).toMatch(/hindcast_judge_breaker\{state="open".*\} 1/);
  // The breaker reckons by this clock when to try again.
  const clock = jest.spyOn(Date, 'now').mockReturnValue(Date.now());
  const asked = bench.judge.calls.length;
  const turnId = await bench.publish();
  await until(() => bench.clocks.underWay === 20);
  bench.clocks.strike();
  await until(() => bench.count === 2);
  const { body } = bench.of(turnId)!;
  expect(new Set(body.evalVotes.map((vote) => vote.abstained))).toEqual(new Set(['breaker-open']));
  expect(body.evalScore).toBe(0);
  expect(bench.judge.calls).toHaveLength(asked);
  clock.mockRestore();
  healthy = true;
  expect((await bench.judged()).body.evalScore).toBe(1);
  expect(await bench.metrics()).toMatch(/hindcast_judge_breaker\{state="closed".*\} 1/);
});

it('says on /readyz that its judge fails, and serves on', async () => {
  let healthy = false;
  await bench.start((_call, _n, response) => (healthy ? reply(response, '\\boxed{1}') : refuse(response, 503)), {
    EVAL_VOTES: '3',
    HINT_VOTES: '0',
    JUDGE_STRUCTURED: 'off',
  });
  const readiness = async (): Promise<unknown> =>
    (await fetch(`http://127.0.0.1:${bench.services[0]!.port}/readyz`)).json();
  expect(await readiness()).toMatchObject({ ready: true, degraded: [] });
  await bench.judgedAfterFailures(3);
  const { origin } = new URL(bench.judge.baseUrl);
  expect(await readiness()).toMatchObject({
    ready: true,
    degraded: [expect.stringMatching(new RegExp(`^judge: status 503 from ${origin}, \\d+ times in a row$`)) as string],
  });
  healthy = true;
  await bench.judged();
  expect(await readiness()).toMatchObject({ ready: true, degraded: [] });
});

it('records what a vote cost by the prices, and counts votes by outcome', async () => {
  await bench.start(
    (call, _n, response) =>
      asksForHint(call) ? reply(response, 'no box', { usage: null }) : reply(response, '\\boxed{1}'),
    { EVAL_VOTES: '1', HINT_VOTES: '1', JUDGE_PRICE_PROMPT: '2', JUDGE_PRICE_COMPLETION: '10' },
  );
  const { body } = await bench.judged();
  expect(body.evalVotes[0]!.cost).toBeCloseTo((9 * 2 + 5 * 10) / 1e6, 12);
  // The default usage stands where the script gives none; here the server gives none.
  const metrics = await bench.metrics();
  expect(metrics).toMatch(/hindcast_judge_votes_total\{kind="eval",outcome="ok".*\} 1/);
  expect(metrics).toMatch(/hindcast_judge_votes_total\{kind="hint",outcome="unreadable".*\} 1/);
  expect(metrics).toMatch(/hindcast_judge_votes_total\{kind="eval",outcome="timeout".*\} 0/);
  expect(metrics).toMatch(/hindcast_judge_scores_total\{kind="eval",score="1".*\} 1/);
  expect(metrics).toMatch(/hindcast_judge_scores_total\{kind="hint",score="1".*\} 0/);
  expect(metrics).toMatch(/hindcast_judge_turns_total\{score="1",hinted="false".*\} 1/);
  expect(metrics).toMatch(/hindcast_judge_vote_seconds_count\{.*kind="eval".*\} 1/);
  expect(metrics).toMatch(/hindcast_judge_tokens_total\{type="prompt".*\} \d+/);
});

it('raw replies are recorded, but not without bound', async () => {
  await bench.start((_call, _n, response) => reply(response, `A${'x'.repeat(100_000)}\\boxed{1}`), {
    EVAL_VOTES: '1',
    HINT_VOTES: '0',
  });
  const { raw, score } = (await bench.judged()).body.evalVotes[0]!;
  expect(score).toBe(1);
  expect(raw.length).toBeLessThan(4_200);
  expect(raw).toMatch(/^Ax.*\\boxed\{1\}$/s);
});
