import { parseConfig } from '@hindcast/platform';
import { JudgeConfig } from '../config';
import { refuse, reply, startFakeJudge, type FakeJudge } from '../testing/fake-judge';
import { trialVote, type TrialVote } from './trial-vote';

let judge: FakeJudge;
afterEach(() => judge.stop());

const ask = (env: Record<string, string> = {}): Promise<TrialVote> =>
  trialVote(parseConfig('judge-svc', JudgeConfig, { JUDGE_BASE_URL: judge.baseUrl, ...env }));

it('asks as the service does, and reads the vote', async () => {
  judge = await startFakeJudge((_, __, response) => reply(response, '{"reasoning":"wrong","score":-1}'));
  expect(await ask({ JUDGE_MODEL: 'm' })).toMatchObject({ outcome: 'answered', score: -1, saidAs: 'json', raw: null });
  expect(judge.calls[0]!.body).toMatchObject({ model: 'm', response_format: { type: 'json_schema' } });
  expect(judge.calls[0]!.body.messages[1]!.content).toContain('Two plus two is four');
});

it('asks again without a schema that the judge does not know', async () => {
  judge = await startFakeJudge((call, _, response) =>
    call.body.response_format ? refuse(response, 400) : reply(response, 'It was wrong. \\boxed{-1}'),
  );
  expect(await ask()).toMatchObject({ outcome: 'answered', score: -1, saidAs: 'boxed' });
});

it('says what a reply began with that cannot be read', async () => {
  judge = await startFakeJudge((_, __, response) => reply(response, 'I am a teapot.', { finishReason: 'length' }));
  expect(await ask()).toMatchObject({ outcome: 'answered', score: null, isCut: true, raw: 'I am a teapot.' });
});

it('says with which status it was refused', async () => {
  judge = await startFakeJudge((_, __, response) => refuse(response, 401));
  expect(await ask()).toMatchObject({ outcome: 'refused', why: 'status 401', score: null });
  expect(judge.calls).toHaveLength(1);
});

it('waits no longer than a vote may take', async () => {
  judge = await startFakeJudge(() => undefined);
  expect(await ask({ VOTE_TIMEOUT_MS: '200' })).toMatchObject({
    outcome: 'silent',
    why: 'no answer within VOTE_TIMEOUT_MS (200 ms)',
  });
});
