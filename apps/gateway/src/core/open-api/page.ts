import type { OpenApi } from './document';
import type { Operation } from './operation';
import type { Fields, Schema } from './schema';
import { schemaRows, shortType } from './schema-text';
import { STYLE } from './page-style';

const escapes: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
const escape = (text: string): string => text.replace(/[&<>"]/g, (character) => escapes[character]!);
/** What stands between back-ticks is code. */
const prose = (text: string): string => escape(text).replace(/`([^`]+)`/g, '<code>$1</code>');
const code = (text: string): string => `<code>${escape(text)}</code>`;
/** A type; the names of schemas in it lead to them. */
const linked = (type: string): string =>
  escape(type).replace(/#(\w+)/g, (_, name: string) => `<a href="#schema-${name}">${name}</a>`);

const table = (title: string, head: readonly string[], rows: readonly (readonly string[])[]): string =>
  rows.length === 0
    ? ''
    : `<h4>${title}</h4>
<div class="wide"><table><thead><tr>${head.map((cell) => `<th>${cell}</th>`).join('')}</tr></thead><tbody>
${rows.map((row) => `<tr>${row.map((cell) => `<td>${cell}</td>`).join('')}</tr>`).join('\n')}
</tbody></table></div>`;

const fieldRows = (schema: Schema): string[][] =>
  schemaRows(schema).map(({ name, type, isRequired, description }) => [
    `${code(name)}${isRequired ? ' <span class="needed">needed</span>' : ''}`,
    `<span class="type">${linked(type)}</span>`,
    prose(description),
  ]);

function answerRows({ responses }: Operation): string[][] {
  return Object.entries(responses).map(([status, { description, content, headers }]) => [
    `<span class="status s${status[0]}">${status}</span>`,
    Object.entries(content ?? {})
      .map(
        ([type, media]) =>
          `${code(type)} <span class="type">${linked(shortType((media['x-event'] ?? media['schema']) as Schema))}</span>`,
      )
      .join('<br>'),
    `${prose(description)}${headers ? `<br><small>${Object.keys(headers).map(code).join(' ')}</small>` : ''}`,
  ]);
}

function operationSection(method: string, path: string, operation: Operation, schemas: Fields): string {
  const schema = operation.requestBody?.content['application/json']?.schema;
  const named = typeof schema?.['$ref'] === 'string' ? schemas[schema['$ref'].split('/').at(-1)!] : schema;
  const answered = operation.responses['200']?.content?.['application/json']?.['schema'] as Schema | undefined;
  const parameters = (operation.parameters ?? []).map(({ name, in: place, description, schema: type }) => [
    code(name),
    `<span class="type">${place}, ${linked(shortType(type))}</span>`,
    prose(description),
  ]);
  return `<details id="${operation.operationId}"><summary><span class="method ${method}">${method.toUpperCase()}</span> <code>${escape(path)}</code> <span class="what">${prose(operation.summary)}</span></summary>
${operation.description ? `<p>${prose(operation.description)}</p>` : ''}
${operation.security ? '<p>No key is needed.</p>' : ''}
${table('Parameters', ['name', 'where', 'meaning'], parameters)}
${named ? table('Body', ['field', 'type', 'meaning'], fieldRows(named)) : ''}
${table('Answers', ['status', 'body', 'meaning'], answerRows(operation))}
${answered ? table('Fields of the answer', ['field', 'type', 'meaning'], fieldRows(answered)) : ''}
</details>`;
}

/** The document as a page that loads nothing from elsewhere and runs nothing. */
export function openApiPage(document: OpenApi): string {
  const { info, tags, paths, components } = document;
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  );
  const sections = tags.map(({ name, description }) => {
    const own = operations.filter(({ operation }) => operation.tags[0] === name);
    const parts = own.map(({ path, method, operation }) =>
      operationSection(method, path, operation, components.schemas),
    );
    return `<h2>${name}</h2>\n<p>${prose(description)}</p>\n${parts.join('\n')}`;
  });
  const schemas = Object.entries(components.schemas).map(
    ([name, schema]) =>
      `<details id="schema-${name}"><summary><code>${name}</code></summary>${table('', ['field', 'type', 'meaning'], fieldRows(schema))}</details>`,
  );
  const keys = Object.values(components.securitySchemes).map((scheme) => {
    const shown = scheme['type'] === 'http' ? 'Authorization: Bearer <key>' : `${String(scheme['name'])}: <key>`;
    return `<li>${code(shown)} ${prose(String(scheme['description']))}.</li>`;
  });
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>${info.title}</title><style>${STYLE}</style></head><body>
<h1>${info.title}</h1>
<p>${prose(info.description)}</p>
<p>The same as OpenAPI 3.1: <a href="/openapi.json">/openapi.json</a></p>
<ul>${keys.join('')}</ul>
${sections.join('\n')}
<h2>Schemas</h2>
${schemas.join('\n')}
</body></html>
`;
}
