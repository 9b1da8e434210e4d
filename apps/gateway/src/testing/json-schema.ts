import { createRequire } from 'node:module';

interface Validate {
  (value: unknown): boolean;
  errors?: readonly { readonly instancePath: string; readonly message?: string }[] | null;
}
interface Validator {
  addSchema(schema: object, key: string): void;
  compile(schema: object): Validate;
}

/** Fastify's own validator: there is no need for another one. */
const ofFastify = createRequire(createRequire(require.resolve('fastify')).resolve('@fastify/ajv-compiler'));
const { default: Ajv2020 } = ofFastify('ajv/dist/2020') as { default: new (options: object) => Validator };

/** Words of OpenAPI and of our own that a schema may have besides those of JSON Schema. */
const KEYWORDS = ['x-event'];
const FORMATS = { uuid: /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/ };

/** Validates against schemas that stand in a document; a reference in them is into that document. */
export class SchemasOf {
  private readonly compiled = new WeakMap<object, Validate>();
  private readonly validator = new Ajv2020({
    allErrors: true,
    strict: true,
    allowUnionTypes: true,
    strictTypes: false,
    strictRequired: false,
    formats: FORMATS,
    keywords: KEYWORDS,
  });

  constructor(document: { readonly components: { readonly schemas: Readonly<Record<string, object>> } }) {
    for (const [name, schema] of Object.entries(document.components.schemas))
      this.validator.addSchema(absolute(schema), keyOf(name));
  }

  /** @throws Error when the schema is none, or refers to something that is not there */
  compile(schema: object): Validate {
    const known = this.compiled.get(schema) ?? this.validator.compile(absolute(schema));
    this.compiled.set(schema, known);
    return known;
  }

  /** What is wrong with a value; empty when nothing is. */
  problems(schema: object, value: unknown): string[] {
    const validate = this.compile(schema);
    if (validate(value)) return [];
    return (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);
  }
}

const keyOf = (name: string): string => `schema:${name}`;

/** With every reference by the key under which the validator knows what it refers to. */
const absolute = (schema: object): object =>
  JSON.parse(JSON.stringify(schema).replaceAll('"$ref":"#/components/schemas/', `"$ref":"${keyOf('')}`)) as object;
