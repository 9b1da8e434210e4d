import { z } from 'zod';
import { parseBody } from './generation-fields';
import { RequestError } from './request-error';

const LoadBody = z.looseObject({
  lora_name: z.string().nullish(),
  lora_path: z.string().nullish(),
  load_inplace: z.boolean().nullish(),
});
const UnloadBody = z.looseObject({ lora_name: z.string().nullish() });

/** Reads the body of `/v1/load_lora_adapter`. */
export function parseLoadRequest(body: unknown): { name: string; path: string; inPlace: boolean } {
  const fields = parseBody(LoadBody, body);
  if (!fields.lora_name || !fields.lora_path)
    throw new RequestError('InvalidUserInput', "Both 'lora_name' and 'lora_path' must be provided.");
  return { name: fields.lora_name, path: fields.lora_path, inPlace: fields.load_inplace ?? false };
}

/** Reads the body of `/v1/unload_lora_adapter`. */
export function parseUnloadRequest(body: unknown): { name: string } {
  const { lora_name: name } = parseBody(UnloadBody, body);
  if (!name) throw new RequestError('InvalidUserInput', "either 'lora_name' and 'lora_int_id' needs to be provided.");
  return { name };
}
