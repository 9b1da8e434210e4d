import type { MessageCountTokensParams, MessageCreateParamsBase } from '@anthropic-ai/sdk/resources/messages/messages';
import type { ChatCompletionCreateParamsBase } from 'openai/resources/chat/completions/completions';
import type { CompletionCreateParamsBase } from 'openai/resources/completions';
import type { EmbeddingCreateParams } from 'openai/resources/embeddings';
import type { ResponseCreateParamsBase } from 'openai/resources/responses/responses';
import { SchemasOf } from '../../testing/json-schema';
import { checkFeedback } from '../feedback-request';
import { checkOutcome } from '../outcome-request';
import type { chatFields, completionFields, embeddingFields } from './chat-fields';
import { openApi } from './document';
import type { countFields, messageFields } from './messages-paths';
import type { Operation } from './operation';
import { openApiPage } from './page';
import type { responseFields } from './responses-paths';
import type { Schema } from './schema';
import { schemaRows } from './schema-text';

const operations = Object.entries(openApi.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]): [string, string, Operation] => [method, path, operation]),
);
const each = operations.map(([method, path, operation]) => ({ name: `${method} ${path}`, path, operation }));
const duplicates = (names: readonly string[]): string[] => names.filter((name, i) => names.indexOf(name) !== i);

const schemas = new SchemasOf(openApi);

/** `true`, or the fields that an SDK declares and the document lacks. */
type Complete<Declared, Documented> = [Exclude<keyof Declared, keyof Documented>] extends [never]
  ? true
  : Exclude<keyof Declared, keyof Documented>;

describe('the OpenAPI document', () => {
  it('has the parts that OpenAPI 3.1 asks for', () => {
    expect(openApi.openapi).toMatch(/^3\.1\.\d+$/);
    expect(openApi.info).toMatchObject({ title: expect.stringMatching(/./), version: expect.stringMatching(/./) });
    expect(duplicates(operations.map(([, , { operationId }]) => operationId))).toEqual([]);
    expect(duplicates(openApi.tags.map((tag) => tag.name))).toEqual([]);
    const schemes = Object.keys(openApi.components.securitySchemes);
    for (const needed of openApi.security) for (const name of Object.keys(needed)) expect(schemes).toContain(name);
    for (const name of [...schemes, ...Object.keys(openApi.components.schemas)]) expect(name).toMatch(/^[\w.-]+$/);
    expect(JSON.parse(JSON.stringify(openApi))).toEqual(openApi);
  });

  it.each(each)('says of $name all that an operation must', ({ path, operation }) => {
    expect(path).toMatch(/^\//);
    expect(openApi.tags.map(({ name }) => name)).toContain(operation.tags[0]);
    const { parameters = [], responses } = operation;
    const inPath = parameters.filter((parameter) => parameter.in === 'path');
    expect(inPath.map(({ name }) => `{${name}}`)).toEqual(path.match(/\{\w+\}/g) ?? []);
    expect(inPath.every(({ required }) => required === true)).toBe(true);
    expect(duplicates(parameters.map(({ name, in: place }) => `${place} ${name.toLowerCase()}`))).toEqual([]);
    expect(Object.keys(responses).length).toBeGreaterThan(0);
    for (const [status, { description, content, headers }] of Object.entries(responses)) {
      expect(status).toMatch(/^[1-5](\d\d|XX)$/);
      expect(description).not.toBe('');
      for (const name of Object.keys(headers ?? {})) expect(name).not.toMatch(/^content-type$/i);
      for (const media of Object.values(content ?? {})) expect(media).toHaveProperty('schema');
    }
  });

  it.each(each)('has only schemas of JSON Schema 2020-12 in $name', ({ operation }) => {
    for (const schema of schemasIn(operation)) expect(() => schemas.compile(schema)).not.toThrow();
  });

  it('has no schema that nothing refers to, and refers to none that is not there', () => {
    const named = Object.keys(openApi.components.schemas);
    const used = [...JSON.stringify(openApi).matchAll(/"#\/components\/schemas\/(\w+)"/g)].map(([, name]) => name!);
    expect([...new Set(used)].sort()).toEqual([...named].sort());
    for (const name of named) expect(() => schemas.compile({ $ref: `#/components/schemas/${name}` })).not.toThrow();
  });

  it('asks for no key where none is needed, and nowhere else', () => {
    const open = operations.filter(([, , { security }]) => security).map(([, path]) => path);
    expect(open.sort()).toEqual(['/docs', '/docs/openapi.json', '/healthz', '/metrics', '/openapi.json', '/readyz']);
  });

  it.each([
    { turn_id: 't', reward: 1 },
    { response_id: 'r', reward: 0, comment: null, correction: 'c', more: 1 },
    { turn_id: 't', response_id: 'r', reward: 1 },
    { reward: 1 },
    { turn_id: 't' },
    { turn_id: 't', reward: 2 },
    { turn_id: 't', reward: '1' },
    { turn_id: '', reward: 1 },
    { turn_id: 't'.repeat(201), reward: 1 },
    { turn_id: 't', reward: 1, comment: 'c'.repeat(10_001) },
    { turn_id: 't', reward: 1, correction: 5 },
    [],
    null,
  ])('takes feedback as the gateway does: %j', (body) => {
    const problems = schemas.problems({ $ref: '#/components/schemas/Feedback' }, body);
    expect(problems.length === 0).toBe(checkFeedback(body).ok);
  });

  it.each([
    { reward: 1 },
    { reward: -1, comment: null },
    { reward: 0.5, comment: 'c', more: 1 },
    { reward: 1.1 },
    { reward: '1' },
    { reward: null },
    { reward: 1, comment: 'c'.repeat(10_001) },
    {},
    [],
    null,
  ])('takes an outcome as the gateway does: %j', (body) => {
    const problems = schemas.problems({ $ref: '#/components/schemas/Outcome' }, body);
    expect(problems.length === 0).toBe(checkOutcome(body).ok);
  });

  it('knows every field that the official clients declare', () => {
    // The type check is the test: where a field is missing, `true` is not of the type.
    const complete: [
      Complete<ChatCompletionCreateParamsBase, typeof chatFields>,
      Complete<CompletionCreateParamsBase, typeof completionFields>,
      Complete<EmbeddingCreateParams, typeof embeddingFields>,
      Complete<ResponseCreateParamsBase, typeof responseFields>,
      Complete<MessageCreateParamsBase, typeof messageFields>,
      Complete<MessageCountTokensParams, typeof countFields>,
    ] = [true, true, true, true, true, true];
    expect(new Set(complete)).toEqual(new Set([true]));
  });
});

describe('the page', () => {
  const page = openApiPage(openApi);

  it('shows every path with its parameters, its fields and what it answers', () => {
    for (const { operation, path } of each) {
      const section = page.split(`<details id="${operation.operationId}">`)[1]?.split('</details>')[0] ?? '';
      expect(section).toContain(`<code>${path}</code>`);
      for (const { name } of operation.parameters ?? []) expect(section).toContain(`<code>${name}</code>`);
      const body = operation.requestBody?.content['application/json']?.schema;
      const named = (body?.['$ref'] as string | undefined)?.split('/').at(-1);
      const fields = schemaRows((named ? openApi.components.schemas[named] : body) ?? {});
      const answered = operation.responses['200']?.content?.['application/json']?.['schema'] as Schema | undefined;
      const shown = [...fields, ...(answered ? schemaRows(answered) : [])];
      for (const { name } of shown) expect(section).toContain(`<code>${name}</code>`);
      for (const status of Object.keys(operation.responses)) expect(section).toContain(`>${status}</span>`);
    }
  });

  it('loads nothing from elsewhere, runs nothing, and leads nowhere that is not there', () => {
    expect(page).not.toMatch(/<script|<link|<img|@import|url\(|https?:|\son\w+=/i);
    const anchors = [...page.matchAll(/ href="#([\w-]+)"/g)].map(([, anchor]) => anchor!);
    expect(anchors.length).toBeGreaterThan(10);
    for (const anchor of anchors) expect(page).toContain(` id="${anchor}"`);
    const ids = [...page.matchAll(/ id="([\w-]+)"/g)].map(([, id]) => id!);
    expect(duplicates(ids)).toEqual([]);
  });

  it('shows a text of the document as text', () => {
    const info = { ...openApi.info, description: '<b>"fat"</b> & `code`' };
    expect(openApiPage({ ...openApi, info })).toContain('&lt;b&gt;&quot;fat&quot;&lt;/b&gt; &amp; <code>code</code>');
  });

  it('follows the reader’s choice of light or dark', () => {
    expect(page).toContain('color-scheme: light dark');
    expect(page).toContain('prefers-color-scheme: dark');
  });
});

/** Schemas that stand under `schema` or `x-event`, at any depth. */
function schemasIn(value: unknown): object[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, inside]) =>
    name === 'schema' || name === 'x-event' ? [inside as object] : schemasIn(inside),
  );
}
