import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ChatTemplate, textEncoder, type TemplateMessage } from '@hindcast/language-model/text';
import { FakeEngine, sendJson, type EngineCall } from '../../../gateway/src/testing/fake-engine';
import { sglangScore, tokenize, vllmScore, type KnownModel } from '../../../teacher-svc/src/testing/scoring-wire';
import { root } from './command';

export const MODEL_DIR = join(root, 'models/seed');

/** What is wrong with a server; nothing unless it is named. */
export interface Ailments {
  /** Log-probs as it reports them with an answer. @param asked for by top-k 1 */
  readonly reported?: (logProb: number, isGreedy: boolean) => number;
  /** It is too old to know fields for ids. */
  readonly givesNoIds?: boolean;
  /** Its ids are of another vocabulary. */
  readonly shiftsIds?: boolean;
  readonly hasNoAdapters?: boolean;
  /** It makes another prompt of an answer's messages than of those that are tokenised. */
  readonly hasTwoTemplates?: boolean;
  readonly key?: string;
}

/** A vLLM or SGLang over real sockets that serves the seed model's vocabulary; its log-probs are made up, and the same wherever it gives them. */
export async function startModelServer(dialect: 'vllm' | 'sglang', ailments: Ailments = {}): Promise<FakeEngine> {
  const engine = await FakeEngine.start(dialect);
  const json = (file: string): object => JSON.parse(readFileSync(join(MODEL_DIR, file), 'utf8')) as object;
  const encoder = textEncoder(json('tokenizer.json'), json('tokenizer_config.json'));
  const template = await ChatTemplate.load(MODEL_DIR);
  const shift = ailments.shiftsIds ? 1 : 0;
  const encode = (text: string): number[] =>
    encoder.encode(text, { add_special_tokens: false }).ids.map((id) => id! + shift);
  const logProb = (id: number): number => -0.2 - (id % 7) / 10;
  const answer = (call: EngineCall): void => {
    const { reported = (value: number) => value } = ailments;
    const promptIds = encode(template.render(call.body['messages'] as TemplateMessage[]));
    const tokens = encode('Blue is a colour.').map((id) => ({
      id,
      text: 'x',
      logProb: reported(logProb(id), call.body['top_k'] === 1),
    }));
    if (ailments.givesNoIds) for (const field of ID_FIELDS) delete call.body[field];
    engine.answer(call, { promptIds: ailments.hasTwoTemplates ? [1, ...promptIds] : promptIds, tokens });
  };
  const known = (call: EngineCall): KnownModel => {
    const { prompt, messages } = call.body;
    const text = Array.isArray(messages) ? template.render(messages as TemplateMessage[]) : prompt;
    const promptIds = typeof text === 'string' ? encode(text) : [];
    return { promptIds, hintedIds: promptIds, logProb: (ids, at) => logProb(ids[at]!) };
  };
  engine.script = (call) => {
    const { key } = ailments;
    if (key !== undefined && call.headers.authorization !== `Bearer ${key}`)
      return engine.refuse(call, 401, 'Unauthorized');
    const { path, response } = call;
    const asTeacherKnowsIt = { ...call, authorization: undefined };
    if (path === '/v1/chat/completions') return answer(call);
    if (path === '/tokenize') return void sendJson(response, 200, tokenize(asTeacherKnowsIt, known(call)).json);
    if (path === '/v1/completions' && dialect === 'vllm')
      return write(call, vllmScore(asTeacherKnowsIt, known(call)).text!);
    if (path === '/generate' && dialect === 'sglang')
      return write(call, sglangScore(asTeacherKnowsIt, known(call)).text!);
    if (path.endsWith('/load_lora_adapter') && !ailments.hasNoAdapters)
      return engine.refuse(call, 404, `No adapter found for ${String(call.body['lora_path'])}`);
    return void sendJson(response, 404, { detail: 'Not Found' });
  };
  return engine;
}

const ID_FIELDS = ['return_token_ids', 'return_input_ids_in_sglext', 'return_output_ids_in_sglext'];

const write = ({ response }: EngineCall, text: string): void =>
  void response.writeHead(200, { 'content-type': 'application/json' }).end(text);
