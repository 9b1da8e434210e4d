import type { Parameter } from './own-fields';
import type { Replies } from './replies';
import type { Fields, Schema } from './schema';
import { object } from './schema';

export type Method = 'get' | 'post';

export interface Operation {
  readonly operationId: string;
  readonly tags: readonly [string];
  readonly summary: string;
  readonly description?: string;
  /** `[]`: no key is asked for. */
  readonly security?: readonly [];
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly required: boolean; readonly content: Readonly<Record<string, { schema: Schema }>> };
  readonly responses: Replies;
}

export type Paths = Readonly<Record<string, Readonly<Partial<Record<Method, Operation>>>>>;

/** A JSON body; further fields are taken. */
export const body = (required: readonly string[], properties: Fields): Operation['requestBody'] =>
  bodyOf(object(required, properties, { additionalProperties: true }));

export const bodyOf = (schema: Schema): Operation['requestBody'] => ({
  required: true,
  content: { 'application/json': { schema } },
});
