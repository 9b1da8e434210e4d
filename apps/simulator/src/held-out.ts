import { heldOutQuestions, ruleMet, wellFormed, type Persona } from '@hindcast/seed-world';
import { z } from 'zod';
import type { HeldOut } from './core/report';
import { authorization, type Gateway } from './ledger';

/** Questions per evaluation; the standard error of a rate is then at most 5 points. */
export const HELD_OUT_QUESTIONS = 100;
/** Asked at once. */
const CONCURRENCY = 16;
export const MAX_TOKENS = 120;

const Completion = z.object({
  choices: z
    .array(
      z.object({
        message: z.object({ content: z.string() }),
        finish_reason: z.string(),
        token_ids: z.array(z.int()).min(1),
        logprobs: z.object({ content: z.array(z.object({ logprob: z.number() })) }),
      }),
    )
    .length(1),
  prompt_token_ids: z.array(z.int()).min(1),
});
const Scored = z.object({
  choices: z
    .array(z.object({ prompt_logprobs: z.array(z.record(z.string(), z.object({ logprob: z.number() })).nullable()) }))
    .length(1),
});

/** The seed of held-out answer `i`: an evaluation can be repeated answer by answer with any engine that draws as ours does. */
export const answerSeed = (seed: number, i: number): number => 1_000_000 + seed * 1_000 + i;

/**
 * First answers to held-out questions at temperature 1, as side requests through the gateway; the seed model scores the same ids on
 * the engine.
 */
export async function evaluateHeldOut(options: {
  readonly gateway: Gateway;
  readonly engineUrl: string;
  readonly baseModel: string;
  readonly model: string;
  readonly persona: Persona;
  readonly seed: number;
  readonly onAnswer?: () => void;
}): Promise<HeldOut> {
  const questions = heldOutQuestions(options.seed, HELD_OUT_QUESTIONS);
  const results = new Array<{ rule: boolean; form: boolean; kl: number }>(questions.length);
  let next = 0;
  const worker = async (): Promise<void> => {
    for (let i = next++; i < questions.length; i = next++) {
      const answer = Completion.parse(
        await post(
          `${options.gateway.gatewayUrl}/v1/chat/completions`,
          {
            model: options.model,
            messages: [{ role: 'user', content: questions[i]!.text }],
            temperature: 1,
            max_tokens: MAX_TOKENS,
            seed: answerSeed(options.seed, i),
            logprobs: true,
            return_token_ids: true,
          },
          { 'x-turn-type': 'side', ...authorization(options.gateway.apiKey) },
        ),
      );
      const [choice] = answer.choices;
      const ids = choice!.token_ids;
      const logProbs = choice!.logprobs.content.map((token) => token.logprob);
      if (logProbs.length !== ids.length) throw new Error(`${ids.length} sampled ids but ${logProbs.length} log-probs`);
      const seedLogProbs = await scoreIds(options.engineUrl, options.baseModel, answer.prompt_token_ids, ids);
      const ended = choice!.finish_reason === 'stop';
      const text = choice!.message.content;
      results[i] = {
        rule: ruleMet(options.persona, text, ended ? ids.length - 1 : ids.length, ended),
        form: wellFormed(text, ended),
        kl: logProbs.reduce((sum, logProb, t) => sum + logProb - seedLogProbs[t]!, 0),
      };
      options.onAnswer?.();
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, worker));
  const mean = (value: (result: (typeof results)[number]) => number): number =>
    results.reduce((sum, result) => sum + value(result), 0) / results.length;
  return {
    rule: mean(({ rule }) => Number(rule)),
    form: mean(({ form }) => Number(form)),
    klPerAnswer: mean(({ kl }) => kl),
  };
}

async function scoreIds(
  engineUrl: string,
  model: string,
  promptIds: readonly number[],
  ids: readonly number[],
): Promise<number[]> {
  const body = { model, prompt: [...promptIds, ...ids], max_tokens: 1, temperature: 0, prompt_logprobs: 0 };
  const { choices } = Scored.parse(await post(`${engineUrl}/v1/completions`, body));
  return ids.map((id, t) => {
    const entry = choices[0]!.prompt_logprobs[promptIds.length + t]?.[String(id)];
    if (!entry) throw new Error(`the engine did not score id ${id} at position ${t}`);
    return entry.logprob;
  });
}

async function post(url: string, body: unknown, headers: Record<string, string> = {}): Promise<unknown> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${url} answered ${response.status}: ${text.slice(0, 300)}`);
  return JSON.parse(text);
}
