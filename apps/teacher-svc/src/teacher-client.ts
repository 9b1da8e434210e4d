import { DependencyUnavailable, type CaptureHeader } from '@hindcast/contracts';
import { CONFIG, Log } from '@hindcast/platform';
import { Inject, Injectable } from '@nestjs/common';
import { EngineHttp, type EnginePlace, type EngineReply } from './engine-http';
import type { TeacherConfig } from './config';
import { alignSglang, alignVllm, type ScoredIds } from './core/align-log-probs';
import type { Message } from './core/hinted-messages';
import type { Scores } from './core/positions';
import { errorMessage, hasNonFiniteNumber, refusalReason } from './core/refusal-reason';
import { scanTokens } from './core/scan-tokens';
import { scanVllm } from './core/scan-vllm';
import { recordedName, type TeacherModel } from './core/teacher-model';
import { TeacherRefusal } from './core/teacher-refusal';
import { writtenIds } from './core/written-ids';

/** The engine has no model of this name. */
export class ModelMissing extends TeacherRefusal {
  constructor(model: string) {
    super('refused-by-engine', `the engine has no model ${model}`);
  }
}

export interface Tokenized {
  /** `[P]` */
  readonly ids: Int32Array;
  /** Positions of the model; null where the answer does not say. */
  readonly maxModelLength: number | null;
}

/** Asks a teacher's engine for the ids of a conversation and for log-probs of given ids. */
@Injectable()
export class TeacherClient {
  constructor(
    @Inject(CONFIG) private readonly config: TeacherConfig,
    private readonly http: EngineHttp,
    private readonly log: Log,
  ) {}

  /** Prompt ids of a conversation by the engine's own chat template. Every version has the tokenizer of its base model. */
  async tokenize(
    engine: string,
    { base }: TeacherModel,
    messages: readonly Message[],
    header: CaptureHeader,
  ): Promise<Tokenized> {
    const body = {
      model: base,
      messages,
      add_generation_prompt: true,
      ...(header.tools ? { tools: header.tools } : {}),
      ...(header.templateArguments ? { chat_template_kwargs: header.templateArguments } : {}),
    };
    const reply = await this.http.post(this.place(engine), '/tokenize', body);
    if (reply.status === 404) throw new ModelMissing(base);
    const scanned = reply.status === 200 ? scanTokens(reply.body) : null;
    const answer: { tokens?: unknown; max_model_len?: unknown } = scanned?.rest ?? this.parsed(reply);
    // SGLang says what the tokenizer's file says, which may be any number.
    const says = this.config.TEACHER_DIALECT === 'vllm' ? answer.max_model_len : null;
    return {
      ids: scanned?.ids ?? Int32Array.from(idsOf(answer.tokens, reply.path)),
      maxModelLength: typeof says === 'number' && says > 0 ? says : null,
    };
  }

  /**
   * log π_T of the ids behind the prompt, by the engine's dialect.
   *
   * @throws ModelMissing, TeacherRefusal, DependencyUnavailable
   */
  score(engine: string, model: TeacherModel, scored: ScoredIds): Promise<Scores> {
    return this.config.TEACHER_DIALECT === 'sglang'
      ? this.scoreSglang(engine, model, scored)
      : this.scoreVllm(engine, model, scored);
  }

  private async scoreVllm(engine: string, model: TeacherModel, scored: ScoredIds): Promise<Scores> {
    const name = recordedName(model);
    const rest = { model: name, max_tokens: 1, temperature: 0, prompt_logprobs: scored.topK };
    const json = withIds('prompt', scored.ids, rest);
    const reply = await this.http.postWritten(this.place(engine), '/v1/completions', json);
    if (reply.status === 404) throw new ModelMissing(name);
    const scanned = reply.status === 200 ? scanVllm(reply.body, scored) : null;
    if (scanned) return scanned;
    const { choices } = this.parsed(reply) as { choices?: unknown };
    const entries = (Array.isArray(choices) ? (choices[0] as { prompt_logprobs?: unknown } | null) : null)
      ?.prompt_logprobs;
    if (!Array.isArray(entries)) throw unexpected(reply.path, 'choices[0].prompt_logprobs is no list');
    return alignVllm(entries, scored);
  }

  private async scoreSglang(engine: string, model: TeacherModel, scored: ScoredIds): Promise<Scores> {
    const rest = {
      sampling_params: { max_new_tokens: 0, temperature: 0 },
      return_logprob: true,
      logprob_start_len: scored.promptLength - 1,
      ...(scored.topK > 0 ? { top_logprobs_num: scored.topK } : {}),
      ...(model.adapter === null ? {} : { lora_path: model.adapter }),
    };
    const json = withIds('input_ids', scored.ids, rest);
    const reply = await this.http.postWritten(this.place(engine), '/generate', json);
    const answer = this.parsed(reply) as { meta_info?: unknown };
    if (typeof answer.meta_info !== 'object' || answer.meta_info === null)
      throw unexpected(reply.path, 'there is no meta_info');
    return alignSglang(answer.meta_info as Record<string, unknown>, scored);
  }

  /** Names of the models that the engine has loaded. */
  async models(engine: string): Promise<string[]> {
    const reply = await this.http.get(this.place(engine), '/v1/models');
    const { data } = this.parsed(reply) as { data?: unknown };
    if (!Array.isArray(data)) throw unexpected(reply.path, 'data is no list');
    return data.map((entry) => String((entry as { id?: unknown } | null)?.id ?? ''));
  }

  private place(engine: string): EnginePlace {
    return { baseUrl: engine, apiKey: this.config.TEACHER_API_KEY };
  }

  /** The body of a reply with status 200. Throws TeacherRefusal for any other that is not an outage, DependencyUnavailable for no JSON. */
  private parsed({ path, status, body }: EngineReply): object {
    const text = body.toString('utf8');
    let answer: unknown = null;
    try {
      answer = JSON.parse(text);
    } catch (cause) {
      if (status === 200 && hasNonFiniteNumber(text))
        throw new TeacherRefusal('non-finite', `${path}: the answer has numbers that are not finite`);
      if (status === 200)
        throw new DependencyUnavailable('teacher engine', `${path}: the answer is not JSON`, 1_000, { cause });
    }
    if (status !== 200) {
      this.log.debug('teacher.refused', { path, status, message: errorMessage(answer) });
      throw new TeacherRefusal(refusalReason(answer), `${path} answered ${status}`);
    }
    if (typeof answer !== 'object' || answer === null) throw unexpected(path, 'no object');
    return answer;
  }
}

/** Token ids of an answer. Throws TeacherRefusal when they are none. */
export function idsOf(tokens: unknown, path: string): number[] {
  if (!Array.isArray(tokens)) throw unexpected(path, 'tokens is no list');
  for (const id of tokens)
    if (!Number.isInteger(id) || (id as number) < 0 || (id as number) > 0x7fffffff)
      throw unexpected(path, 'a token id is none');
  return tokens as number[];
}

/** A request's JSON: an object that is not empty, with the ids in front. */
const withIds = (field: string, ids: Int32Array, rest: object): string =>
  `{"${field}":[${writtenIds(ids)}],${JSON.stringify(rest).slice(1)}`;

const unexpected = (path: string, what: string): TeacherRefusal =>
  new TeacherRefusal('refused-by-engine', `${path}: ${what}`);
