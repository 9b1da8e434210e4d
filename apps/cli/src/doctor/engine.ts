import { captureFindings, type Dialect } from './core/capture-findings';
import { readProbeAnswer, readStreamedProbe, type ProbeAnswer } from './core/engine-answer';
import { fault, ok, type Finding } from './core/finding';
import { logProbModeFinding } from './core/log-prob-mode';
import { Unreachable, call, refusalOf, type Server } from './http';
import { listedModels, modelFinding } from './core/model-findings';
import { scoreIds } from './scoring';
import { startOf, type Settings } from './settings';

/** What the other checks of an engine go on with. */
export interface EngineLook {
  readonly server: Server;
  /** Its name in the report. */
  readonly name: string;
  readonly findings: readonly Finding[];
  /** `null` where it gave no answer that could be read. */
  readonly answer: ProbeAnswer | null;
  /** The engine's clock against this one's, ms. */
  readonly clockMs: number | null;
}

/** Short, and of a kind that a chat template has something to do with. */
export const PROBE_MESSAGES = [{ role: 'user', content: 'Name a colour.' }] as const;
const PROBE_TOKENS = 8;

/** One real request to an engine, as the gateway sends it (docs/engine-calls.md §1). */
export async function checkEngine(baseUrl: string, settings: Settings): Promise<EngineLook> {
  const { gateway } = settings;
  const server: Server = { baseUrl, key: gateway.POLICY_API_KEY };
  const name = `engine ${baseUrl}`;
  const seen = { server, name, answer: null, clockMs: null };
  try {
    const list = await call(server, `${baseUrl}/models`);
    const listed = modelFinding(name, list.status, listedModels(list.json), refusalOf(list), {
      model: gateway.POLICY_MODEL,
      modelVariable: 'POLICY_MODEL',
      keyVariable: 'POLICY_API_KEY',
    });
    if (listed.grade === 'fault') return { ...seen, findings: [listed], clockMs: list.clockMs };
    const { findings, answer } = await askOnce(server, name, gateway);
    return { ...seen, findings: [listed, ...findings], answer, clockMs: list.clockMs };
  } catch (error) {
    if (!(error instanceof Unreachable)) throw error;
    return {
      ...seen,
      findings: [engineAway(name, error.message, 'POLICY_BASE_URL', startOf(settings, 'engine', baseUrl))],
    };
  }
}

/** @param start how it is started, where that is known */
export const engineAway = (check: string, why: string, variable: string, start: string | null): Finding =>
  fault(
    check,
    `does not answer (${why})`,
    start ?? `Start it, or correct ${variable}, which ends in /v1; several are separated by commas.`,
  );

async function askOnce(
  server: Server,
  name: string,
  gateway: Settings['gateway'],
): Promise<{ findings: Finding[]; answer: ProbeAnswer | null }> {
  const { POLICY_DIALECT: dialect, POLICY_MODEL: model, POLICY_TOKENIZER_DIR: tokenizerDir, OFF_POLICY } = gateway;
  const reply = await call(server, `${server.baseUrl}/chat/completions`, probeRequest(model, dialect));
  const answer = reply.status === 200 ? readProbeAnswer(reply.json) : null;
  if (answer === null) {
    const found =
      reply.status === 200
        ? 'its answer is no chat completion'
        : `refuses a request as the gateway sends it: ${refusalOf(reply)}`;
    const mend = `Set POLICY_DIALECT to what the engine is (vllm, sglang, openai; now ${dialect}), or switch chat completions on (a model without a chat template needs --chat-template).`;
    return { findings: [fault(`${name}: answer`, found, mend)], answer: null };
  }
  const recoversIds = tokenizerDir !== undefined;
  const findings = captureFindings(name, answer, dialect, recoversIds);
  findings.unshift(ok(`${name}: answer`, `in ${(reply.elapsedMs / 1000).toFixed(1)} s`));
  // What is wrong with a whole answer is wrong with a streamed one.
  if (findings.every(({ grade }) => grade !== 'fault'))
    findings.push(...(await askStreamed(server, name, { model, dialect, recoversIds })));
  if (dialect === 'openai' || findings.some(({ grade }) => grade === 'fault')) return { findings, answer };
  findings.push(await logProbMode(server, name, { model, dialect }, answer, OFF_POLICY));
  return { findings, answer };
}

/** The same once more as a stream, in which engines send ids and log-probs in other places; only what is wrong with it is told. */
async function askStreamed(
  server: Server,
  name: string,
  { model, dialect, recoversIds }: { readonly model: string; readonly dialect: Dialect; readonly recoversIds: boolean },
): Promise<Finding[]> {
  const check = `${name}: streamed answer`;
  const asStream = { stream: true, stream_options: { include_usage: true } };
  // SGLang refuses it in a stream.
  const fields = dialect === 'sglang' ? { ...asStream, return_token_ids: undefined } : asStream;
  const reply = await call(server, `${server.baseUrl}/chat/completions`, probeRequest(model, dialect, fields));
  const answer = reply.status === 200 ? readStreamedProbe(reply.text) : null;
  if (answer === null) {
    const found = reply.status === 200 ? 'is no event stream' : `is refused: ${refusalOf(reply)}`;
    return [fault(check, found, `Set POLICY_DIALECT to what the engine is (vllm, sglang, openai; now ${dialect}).`)];
  }
  const wrong = captureFindings(check, answer, dialect, recoversIds).filter(({ grade }) => grade === 'fault');
  return wrong.length > 0 ? wrong : [ok(check, 'holds the same')];
}

const SAMPLING = { temperature: 1, top_p: 1 };
const ID_FIELDS: Readonly<Record<Dialect, object>> = {
  vllm: { return_token_ids: true },
  sglang: { return_input_ids_in_sglext: true, return_output_ids_in_sglext: true, return_token_ids: true },
  openai: {},
};

/** What the gateway makes of a request that says nothing of sampling. */
function probeRequest(model: string, dialect: Dialect, sampling: object = {}): object {
  return {
    model,
    messages: PROBE_MESSAGES,
    max_tokens: PROBE_TOKENS,
    seed: 1,
    ...SAMPLING,
    ...(dialect !== 'openai' && { top_k: -1, min_p: 0, repetition_penalty: 1 }),
    logprobs: true,
    ...ID_FIELDS[dialect],
    ...sampling,
  };
}

async function logProbMode(
  server: Server,
  name: string,
  { model, dialect }: { readonly model: string; readonly dialect: 'vllm' | 'sglang' },
  answer: ProbeAnswer,
  offPolicy: 'drop' | 'train',
): Promise<Finding> {
  const score = (of: ProbeAnswer): Promise<number[] | null> =>
    scoreIds(server, { model, dialect }, of.promptIds!, of.ids!).then(({ logProbs }) => logProbs);
  const scored = await score(answer);
  const reply = await call(server, `${server.baseUrl}/chat/completions`, probeRequest(model, dialect, { top_k: 1 }));
  const greedy = reply.status === 200 ? readProbeAnswer(reply.json) : null;
  const isWhole = greedy?.ids && greedy.promptIds && greedy.logProbs?.length === greedy.ids.length;
  return logProbModeFinding(
    `${name}: log-prob mode`,
    {
      sampled: answer.logProbs as number[],
      scored,
      greedy: isWhole ? (greedy.logProbs as number[]) : null,
      greedyScored: scored !== null && isWhole ? await score(greedy) : null,
    },
    offPolicy,
  );
}
