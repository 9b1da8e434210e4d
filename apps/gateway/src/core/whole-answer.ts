import { HindcastError } from '@hindcast/contracts';
import { readCompletion, type CompletedAnswer } from './answer';
import { parseAnswerJson, type IdsRoom } from './answer-json';
import type { AskedFields } from './strip-fields';
import { readTokenAnswer } from './token-answer';

/** A whole answer of an engine and its choices. */
export interface WholeAnswer {
  /** As it came. */
  readonly bytes: Buffer;
  /** Without the fields that only Hindcast asked for; `null` where they were not looked for. */
  readonly stripped: Buffer | null;
  /** Parsed; where `stripped` is there, that. */
  readonly body: Record<string, unknown>;
  readonly answers: CompletedAnswer[];
}

/**
 * @param idsRoom where long ids are kept
 * @throws HindcastError `engine-invalid-response`
 */
export function readWhole(bytes: Buffer, choices: number, asked: AskedFields, idsRoom?: IdsRoom): WholeAnswer {
  const read = choices === 1 ? readTokenAnswer(bytes, asked, idsRoom) : null;
  let body: unknown;
  try {
    body = parseAnswerJson(read?.stripped ?? bytes, { idsRoom });
  } catch (cause) {
    throw new HindcastError('engine-invalid-response', 'the engine did not answer with JSON', { cause });
  }
  const answers = readCompletion(body, choices, read?.numbers);
  if (!answers) throw new HindcastError('engine-invalid-response', 'the engine did not answer with a chat completion');
  return { bytes, stripped: read?.stripped ?? null, body: body as Record<string, unknown>, answers };
}
