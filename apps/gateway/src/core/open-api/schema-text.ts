import type { Fields, Schema } from './schema';

export interface FieldRow {
  readonly name: string;
  readonly type: string;
  readonly isRequired: boolean;
  readonly description: string;
}

const list = (value: unknown): readonly Schema[] => (Array.isArray(value) ? (value as Schema[]) : []);
const value = (of: unknown): string => (typeof of === 'string' ? `"${of}"` : String(of));

/** A schema in a few words; `#Name` is a schema of the document. */
export function shortType(schema: Schema): string {
  if (typeof schema['$ref'] === 'string') return `#${schema['$ref'].split('/').at(-1)!}`;
  if ('const' in schema) return value(schema['const']);
  if (Array.isArray(schema['enum'])) return schema['enum'].map(value).join(' | ');
  const choices = [...list(schema['anyOf']), ...('type' in schema ? [] : list(schema['oneOf']))];
  if (choices.length > 0) return [...new Set(choices.map(shortType))].join(' | ');
  const types = [schema['type'] ?? 'any'].flat().map(String);
  const items = schema['items'] as Schema | undefined;
  return types.map((type) => (type === 'array' && items ? `array of ${shortType(items)}` : type)).join(' | ');
}

/** The fields of an object's schema, those of objects in it under `a.b`; of a choice of objects, those of each. */
export function schemaRows(schema: Schema, prefix = ''): FieldRow[] {
  const alternatives = list(schema['oneOf']).filter((one) => 'properties' in one);
  if (alternatives.length > 0) return alternatives.flatMap((one) => schemaRows(one, prefix));
  const required = new Set((schema['required'] ?? []) as readonly string[]);
  return Object.entries((schema['properties'] ?? {}) as Fields).flatMap(([name, of]) => {
    const row = {
      name: `${prefix}${name}`,
      type: shortType(of),
      isRequired: required.has(name),
      description: String(of['description'] ?? ''),
    };
    const items = of['items'] as Schema | undefined;
    return [row, ...schemaRows(of, `${prefix}${name}.`), ...(items ? schemaRows(items, `${prefix}${name}[].`) : [])];
  });
}
