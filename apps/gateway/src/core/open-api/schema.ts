import { z } from 'zod';

/** JSON Schema 2020-12, as OpenAPI 3.1 embeds it. */
export type Schema = Readonly<Record<string, unknown>>;
export type Fields = Readonly<Record<string, Schema>>;

type TypeName = 'string' | 'number' | 'integer' | 'boolean' | 'object' | 'array' | 'null';

export const field = (type: TypeName | readonly TypeName[], description?: string, more: Schema = {}): Schema => ({
  type,
  ...more,
  ...(description !== undefined && { description }),
});
/** A field that may be `null`, which says as much as leaving it out. */
export const optional = (type: TypeName | readonly TypeName[], description?: string, more: Schema = {}): Schema =>
  field([type, 'null'].flat() as TypeName[], description, more);
export const oneOfValues = (values: readonly (string | number | null)[], description?: string): Schema => ({
  enum: values,
  ...(description !== undefined && { description }),
});
export const listOf = (items: Schema, description?: string, more: Schema = {}): Schema =>
  field('array', description, { items, ...more });

/** An object that may have further fields. */
export const object = (required: readonly string[], properties: Fields, more: Schema = {}): Schema => ({
  type: 'object',
  ...(required.length > 0 && { required }),
  properties,
  ...more,
});
/** An object whose fields are all there, and no others. */
export const exactly = (properties: Fields, more: Schema = {}): Schema =>
  object(Object.keys(properties), properties, { additionalProperties: false, ...more });

export const reference = (name: string): Schema => ({ $ref: `#/components/schemas/${name}` });

/**
 * The schema that Hindcast itself checks with, each field with what it means.
 *
 * @param io `input` for what a client sends, `output` for what it gets
 */
export function fromZod(schema: z.ZodType, io: 'input' | 'output', meanings: Readonly<Record<string, string>>): Schema {
  const { $schema: _, ...whole } = z.toJSONSchema(schema, { io }) as Record<string, unknown>;
  const properties = { ...(whole['properties'] as Record<string, Schema>) };
  for (const [name, description] of Object.entries(meanings)) properties[name] = { ...properties[name], description };
  return { ...whole, properties };
}
