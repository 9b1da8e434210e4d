import { painter } from '@hindcast/platform/terminal';
import { adapterFinding } from './adapter-findings';
import { captureFindings } from './capture-findings';
import { databaseRefusal, tablesFinding } from './database-findings';
import { readStreamedProbe } from './engine-answer';
import { fault, ok, type Grade } from './finding';
import { judgeFinding, type TrialVote } from './judge-findings';
import { clockFinding, diskFinding, nodeFinding } from './machine-findings';
import { reportLines } from './report-view';

it.each<[string, Grade]>([
  ['18.20.0', 'fault'],
  ['20.18.3', 'fault'],
  ['20.19.0', 'ok'],
  ['22.1.0', 'ok'],
])('node %s is %s', (version, grade) => {
  expect(nodeFinding(version).grade).toBe(grade);
});

it.each<[number, Grade]>([
  [1e8, 'fault'],
  [1e9, 'warning'],
  [1e11, 'ok'],
])('%d bytes of room are %s', (free, grade) => {
  expect(diskFinding('/data', free).grade).toBe(grade);
});

it('names the clocks that are apart, and which way', () => {
  expect(clockFinding({ a: 900, b: null }).grade).toBe('ok');
  expect(clockFinding({ a: -61_000, b: 0 })).toMatchObject({ grade: 'warning', found: 'a is 61 s behind' });
  expect(clockFinding({ a: null }).grade).toBe('skipped');
});

const place = { source: 'DATABASE_URL', host: 'db:5432', database: 'ledger', user: 'ann' } as const;
it.each<[string | null, string, string]>([
  ['28P01', 'password authentication failed for user "ann"', 'DATABASE_URL'],
  ['3D000', 'database "ledger" does not exist', 'createdb'],
  ['ECONNREFUSED', 'connect ECONNREFUSED', 'Start PostgreSQL'],
  [null, 'timeout expired', 'Start PostgreSQL'],
  ['53300', 'too many clients', 'max_connections'],
  ['42501', 'permission denied', 'GRANT'],
  ['XX000', 'anything', 'log of PostgreSQL'],
])('a database that says %s has a remedy', (code, message, mend) => {
  expect(databaseRefusal(place, code, message)).toMatchObject({ grade: 'fault', mend: expect.stringContaining(mend) });
});

it('tells missing tables from newer ones', () => {
  expect(tablesFinding(null, ['1'])).toMatchObject({ grade: 'warning', found: 'none yet' });
  expect(tablesFinding(['1'], ['1', '2'])).toMatchObject({ found: 'without 2' });
  expect(tablesFinding(['1', '2'], ['1'])).toMatchObject({ found: 'of a newer version: 2' });
  expect(tablesFinding(['1'], ['1']).grade).toBe('ok');
});

it.each<[string, 'vllm' | 'sglang', number, string, Grade]>([
  ['a vLLM without the call', 'vllm', 404, '{"detail":"Not Found"}', 'fault'],
  ['a vLLM that looks for the folder', 'vllm', 404, '{"error":{"message":"No adapter found for /nonexistent"}}', 'ok'],
  [
    'an SGLang with adapters off',
    'sglang',
    400,
    '{"message":"LoRA is not enabled. Please set --enable-lora"}',
    'fault',
  ],
  ['an SGLang that looks for the folder', 'sglang', 400, '{"success":false,"error_message":"no such file"}', 'ok'],
  ['a server that takes no POST there', 'vllm', 405, '', 'fault'],
  ['a key that is refused', 'vllm', 401, '{"error":{"message":"Unauthorized"}}', 'fault'],
])('%s', (_, dialect, status, text, grade) => {
  expect(adapterFinding('it', dialect, status, text).grade).toBe(grade);
});

const answer = { promptIds: [1], ids: [2, 3], logProbs: [-1, -2], promptTokens: 1, text: 'x' };
it.each<[string, object, string]>([
  ['prompt ids', { promptIds: null }, 'no-prompt-ids'],
  ['as many log-probs as ids', { logProbs: [-1] }, 'length-mismatch'],
  ['log-probs', { logProbs: null }, 'no-log-probs'],
  ['finite log-probs', { logProbs: [-1, -9999] }, 'non-finite-log-probs'],
  ['numbers', { logProbs: [-1, null] }, 'non-finite-log-probs'],
])('an answer without %s', (_, changed, reason) => {
  const faults = captureFindings('engine', { ...answer, ...changed }, 'vllm', false).filter(
    ({ grade }) => grade === 'fault',
  );
  expect(faults).toEqual([expect.objectContaining({ found: expect.stringContaining(reason) })]);
});

it('joins what the chunks of a stream carry, wherever a server puts it', () => {
  const event = (chunk: object): string => `data: ${JSON.stringify(chunk)}\n\n`;
  const token = (logprob: number): object => ({ content: [{ token: 'x', logprob }] });
  const vllm = [
    event({ prompt_token_ids: [1, 2], choices: [{ delta: { role: 'assistant', content: '' } }] }),
    event({ choices: [{ delta: { content: 'a' }, token_ids: [5], logprobs: token(-1) }] }),
    event({ choices: [{ delta: { content: 'b' }, token_ids: [6], logprobs: token(-2) }] }),
    event({ choices: [], usage: { prompt_tokens: 2 } }),
    'data: [DONE]\n\n',
  ].join('');
  const expected = { promptIds: [1, 2], ids: [5, 6], logProbs: [-1, -2], promptTokens: 2, text: 'ab' };
  expect(readStreamedProbe(vllm)).toEqual(expected);
  const sglang = [
    event({ choices: [{ delta: { content: 'ab' }, logprobs: { content: [{ logprob: -1 }, { logprob: -2 }] } }] }),
    event({ choices: [], sglext: { input_ids: [1, 2], output_ids: [[5, 6]] } }),
    event({ choices: [], usage: { prompt_tokens: 2 } }),
  ].join('');
  expect(readStreamedProbe(sglang)).toEqual(expected);
  expect(readStreamedProbe('{"error":"x"}')).toBeNull();
});

const vote: TrialVote = {
  outcome: 'answered',
  why: null,
  score: -1,
  saidAs: 'json',
  isCut: false,
  raw: null,
  latencyMs: 400,
};
it.each<[string, Partial<TrialVote>, Grade, string | null]>([
  ['reads what happened', {}, 'ok', null],
  ['is slow', { latencyMs: 40_000 }, 'warning', 'VOTE_TIMEOUT_MS'],
  ['is mistaken', { score: 1 }, 'warning', 'JUDGE_MODEL'],
  ['thinks too long', { score: null, isCut: true }, 'fault', 'JUDGE_MAX_TOKENS'],
  [
    'says nothing in time',
    { outcome: 'silent', why: 'no answer within VOTE_TIMEOUT_MS (1 ms)' },
    'fault',
    'Raise VOTE_TIMEOUT_MS',
  ],
  ['is no judge', { outcome: 'silent', why: 'no chat completion' }, 'fault', 'JUDGE_BASE_URL'],
  ['has another model', { outcome: 'refused', why: 'status 404' }, 'fault', 'JUDGE_MODEL (now m)'],
  ['wants money', { outcome: 'refused', why: 'status 429' }, 'fault', 'quota'],
  ['refuses the form', { outcome: 'refused', why: 'status 400' }, 'fault', 'JUDGE_STRUCTURED=off'],
])('a judge that %s', (_, changed, grade, mend) => {
  const found = judgeFinding('judge', { ...vote, ...changed }, { JUDGE_MODEL: 'm', VOTE_TIMEOUT_MS: 60_000 });
  expect(found).toMatchObject({ grade, mend: mend === null ? null : (expect.stringContaining(mend) as string) });
});

it('puts the remedy under the finding', () => {
  expect(reportLines([ok('a', 'fine'), fault('bcd', 'broken', 'Mend it.')], painter(false, {}))).toEqual([
    'ok       a    fine',
    'FAULT    bcd  broken',
    '              → Mend it.',
    '',
    '1 fault, 0 warnings.',
  ]);
});
