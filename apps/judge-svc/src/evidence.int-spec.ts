import { randomUUID } from 'node:crypto';
import { HindcastError } from '@hindcast/contracts';
import { Log, parseConfig } from '@hindcast/platform';
import { JudgeConfig } from './config';
import { reply } from './testing/fake-judge';
import { asksForHint, JudgeBench, pairedTurn } from './testing/judge-bench';

let bench: JudgeBench;
beforeAll(async () => {
  bench = await JudgeBench.open();
});
afterAll(() => bench.close());
afterEach(() => bench.reset());

const yes: Parameters<JudgeBench['start']>[0] = (_call, _n, response) => reply(response, '\\boxed{1}');

async function said(reward: number, correction: string | null = null): Promise<string> {
  const turnId = randomUUID();
  const bucket = await bench.bucket('feedback');
  await bucket.put(turnId, JSON.stringify({ reward, comment: null, correction, at: 1 }));
  return turnId;
}

const ranTool = (text: string) => pairedTurn({ nextState: [{ role: 'tool', text, toolName: 'bash' }] });

it('feedback that is there decides the reward, and its correction is the hint, without a call', async () => {
  await bench.start(yes);
  const { body } = await bench.judged(pairedTurn(), await said(-1, 'use kilometres and no bold'));
  expect(body).toMatchObject({
    evalScore: -1,
    hint: 'use kilometres and no bold',
    rewardSource: 'feedback',
    evalVotes: [],
    hintVotes: [],
  });
  expect(bench.judge.calls).toHaveLength(0);
});

it('FEEDBACK_REWARD=join: feedback is one more vote', async () => {
  await bench.start(yes, { FEEDBACK_REWARD: 'join', EVAL_VOTES: '1' });
  const { body } = await bench.judged(pairedTurn(), await said(-1));
  expect(body).toMatchObject({ evalScore: 0, rewardSource: 'joined', evalVotes: [{ score: 1 }] });
});

it.each(['{"reward": "PRIVATE"}', 'PRIVATE, and no JSON'])('feedback that is none: %s', async (value) => {
  const lines: unknown[] = [];
  const spy = jest.spyOn(Log.prototype, 'error').mockImplementation((...line) => void lines.push(line));
  await bench.start(yes);
  const turnId = randomUUID();
  await (await bench.bucket('feedback')).put(turnId, value);
  const { body } = await bench.judged(pairedTurn(), turnId);
  spy.mockRestore();
  expect(body).toMatchObject({ evalScore: 1, rewardSource: 'votes' });
  expect(lines).toEqual([['feedback.malformed', { turnId }]]);
});

it('a verifier scores a turn without eval votes; hints are still asked for', async () => {
  await bench.start(yes, { VERIFIERS: 'boxed-math,exit-code' });
  const { body } = await bench.judged(ranTool('Traceback (most recent call last)\nexit code: 1'));
  expect(body).toMatchObject({ evalScore: -1, rewardSource: 'verifier', evalVotes: [] });
  expect(body.hintVotes).toHaveLength(3);
  expect(bench.judge.calls.every(asksForHint)).toBe(true);
  expect(body.verdicts).toMatchObject([
    { verifier: 'boxed-math', score: null, detail: expect.stringMatching(/./) as string },
    { verifier: 'exit-code', score: -1 },
  ]);
});

it('verifiers that all abstain leave the score to the votes, and say why', async () => {
  await bench.start(yes, { VERIFIERS: 'exit-code' });
  const { body } = await bench.judged();
  expect(body).toMatchObject({ evalScore: 1, rewardSource: 'votes' });
  expect(body.verdicts).toMatchObject([{ score: null, detail: expect.stringMatching(/./) as string }]);
});

it('verifiers that disagree leave the score to the votes', async () => {
  await bench.start(yes, { VERIFIERS: 'exit-code,boxed-math' });
  const turn = { ...ranTool('exit code: 1'), answer: 'It is \\boxed{42}.', groundTruth: '42' };
  const { body } = await bench.judged(turn);
  expect(body.verdicts.map((verdict) => verdict.score)).toEqual([-1, 1]);
  expect(body).toMatchObject({ evalScore: 1, rewardSource: 'votes' });
});

it('guards name what they find', async () => {
  await bench.start(yes, { GUARDS: 'repetition,format' });
  const { body } = await bench.judged(pairedTurn({ answer: 'You are right. '.repeat(200) }));
  expect(body.guards).toContain('repetition');
  expect((await bench.judged()).body.guards).toEqual([]);
});

it.each([
  [{ VERIFIERS: 'exit-code,oracle' }, /VERIFIERS/],
  [{ GUARDS: 'taste' }, /GUARDS/],
  [{ EVAL_VOTES: '2', EVAL_QUORUM: '3' }, /EVAL_QUORUM/],
  [{ HINT_VOTES: '2', HINT_QUORUM: '3' }, /HINT_QUORUM/],
  [{ JUDGE_BUDGET_CALLS: '5' }, /less than the 6 votes of one turn/],
  [{ JUDGE_PRICE_PROMPT: '1' }, /both prices/],
  [{ JUDGE_BUDGET_COST: '1' }, /JUDGE_PRICE_PROMPT/],
  [{ JUDGE_STRUCTURED: 'xml' }, /JUDGE_STRUCTURED/],
  [{ JUDGE_BASE_URL: 'ftp://judge/v1' }, /JUDGE_BASE_URL/],
] as const)('does not start with %j', (env, mistake) => {
  expect(() => parseConfig('judge-svc', JudgeConfig, env)).toThrow(HindcastError);
  expect(() => parseConfig('judge-svc', JudgeConfig, env)).toThrow(mistake);
});
