import { z } from 'zod';
import { parseBody } from './generation-fields';
import { RequestError } from './request-error';

const LoadBody = z.looseObject({ name: z.string().nullish(), path: z.string().nullish() });
const UnloadBody = z.looseObject({ name: z.string().nullish() });

/** Reads the body of `/v1/load_weights`. */
export function parseLoadWeights(body: unknown): { name: string; path: string } {
  const { name, path } = parseBody(LoadBody, body);
  if (!name || !path) throw new RequestError('InvalidUserInput', "Both 'name' and 'path' must be provided.");
  return { name, path };
}

/** Reads the body of `/v1/unload_weights`. */
export function parseUnloadWeights(body: unknown): { name: string } {
  const { name } = parseBody(UnloadBody, body);
  if (!name) throw new RequestError('InvalidUserInput', "'name' needs to be provided.");
  return { name };
}
