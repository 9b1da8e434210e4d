import { HindcastError } from '@hindcast/contracts';
import { readCompletion, type CompletedAnswer } from './answer';
import { parseAnswerJson } from './answer-json';

/**
 * A whole answer of an engine and its choices.
 *
 * @throws HindcastError `engine-invalid-response`
 */
export function readWhole(
  bytes: Buffer,
  choices: number,
): { body: Record<string, unknown>; answers: CompletedAnswer[] } {
  let body: unknown;
  try {
    body = parseAnswerJson(bytes);
  } catch (cause) {
    throw new HindcastError('engine-invalid-response', 'the engine did not answer with JSON', { cause });
  }
  const answers = readCompletion(body, choices);
  if (!answers) throw new HindcastError('engine-invalid-response', 'the engine did not answer with a chat completion');
  return { body: body as Record<string, unknown>, answers };
}
