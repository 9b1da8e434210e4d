import { HindcastError } from '@hindcast/contracts';
import { readEngineBody } from './engine-body';
import { engineError } from './engine-client';
import type { RoutedResponse } from './policy-router';

/** The error of an answer that had begun. */
export function brokenOff(error: unknown): HindcastError {
  const failure = engineError(error);
  if (failure.code === 'engine-timeout' || failure.code === 'engine-invalid-response') return failure;
  return new HindcastError('engine-stream-broken', 'the engine broke off the answer', { cause: error });
}

/** @throws HindcastError `engine-stream-broken`, `engine-timeout` or `engine-invalid-response` */
export async function wholeBody({ response }: RoutedResponse): Promise<Buffer> {
  try {
    return await readEngineBody(response.body);
  } catch (error) {
    throw brokenOff(error);
  }
}
