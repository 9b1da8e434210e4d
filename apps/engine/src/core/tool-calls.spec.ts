import fc from 'fast-check';
import { ToolCallReader, toolDialectOf, type ToolCall, type ToolDialect } from './tool-calls';

/** An answer in the given pieces: all that was shown, and all calls. */
function read(dialect: ToolDialect, pieces: readonly string[]): { content: string; calls: ToolCall[] } {
  const reader = new ToolCallReader(dialect);
  const steps = [...pieces.map((piece) => reader.push(piece)), reader.end()];
  expect(reader.hasCalls).toBe(steps.some(({ calls }) => calls.length > 0));
  return { content: steps.map(({ content }) => content).join(''), calls: steps.flatMap(({ calls }) => [...calls]) };
}

const add = '{"name": "add", "arguments": {"a": 1, "b": "</x>"}}';
const added = { name: 'add', arguments: '{"a":1,"b":"</x>"}' };
const marked = `<tool_call>\n${add}\n</tool_call>`;

it.each<[string, string, string, ToolCall[]]>([
  ['text alone', 'a < b, <tool> and <tool_cal', 'a < b, <tool> and <tool_cal', []],
  ['a call alone', marked, '', [added]],
  ['text, then a call: the line break between them is neither’s', `I add.\n\n${marked}`, 'I add.', [added]],
  ['two calls', `${marked}\n${marked}\n`, '', [added, added]],
  ['text between calls', `${marked} and ${marked}`, ' and', [added, added]],
  ['text behind a call', `${marked}\nDone. `, '\nDone.', [added]],
  ['an answer that ends before its call is closed', `So: <tool_call>${add}`, 'So:', [added]],
  ['a call that is cut', 'x <tool_call>{"name": "add", "argu', 'x <tool_call>{"name": "add", "argu', []],
  ['no JSON', `<tool_call>add(1)</tool_call>`, '<tool_call>add(1)</tool_call>', []],
  ['no name', '<tool_call>{"arguments": {}}</tool_call>', '<tool_call>{"arguments": {}}</tool_call>', []],
  [
    'arguments that are no object',
    '<tool_call>{"name":"f","arguments":3}</tool_call>',
    '<tool_call>{"name":"f","arguments":3}</tool_call>',
    [],
  ],
  ['white space alone', ' \n', ' \n', []],
])('marked: %s', (_, answer, content, calls) => {
  expect(read('marked', [answer])).toEqual({ content, calls });
});

const parameters = add.replace('arguments', 'parameters');
it.each<[string, string, string, ToolCall[]]>([
  ['a call', parameters, '', [added]],
  ['a call with `arguments`, as some write', ` ${add}\n`, '', [added]],
  ['two calls', `${parameters}; ${parameters}`, '', [added, added]],
  ['text', 'Sure: {"name": "add"}', 'Sure: {"name": "add"}', []],
  ['JSON that is no call', '{"answer": 4}', '{"answer": 4}', []],
  ['a call with text behind it', `${parameters} ok`, `${parameters} ok`, []],
  ['a call that is cut', '{"name": "add", "parameters": {"a"', '{"name": "add", "parameters": {"a"', []],
])('json: %s', (_, answer, content, calls) => {
  expect(read('json', [answer])).toEqual({ content, calls });
});

it('reads the same wherever an answer is cut', () => {
  const parts = fc.constantFrom(
    marked,
    parameters,
    '<tool_call>',
    '</tool_call>',
    '{"name"',
    ';',
    ' ',
    '\n',
    'text',
    '<',
    '"',
    '}',
  );
  const answers = fc.array(parts, { maxLength: 8 }).map((list) => list.join(''));
  fc.assert(
    fc.property(
      answers,
      fc.constantFrom('marked' as const, 'json' as const),
      fc.array(fc.nat(), { maxLength: 12 }),
      (answer, dialect, cuts) => {
        const places = [0, ...cuts.map((cut) => cut % (answer.length + 1)).sort((a, b) => a - b), answer.length];
        const pieces = places.slice(1).map((place, i) => answer.slice(places[i], place));
        expect(read(dialect, pieces)).toEqual(read(dialect, [answer]));
      },
    ),
    { numRuns: 500 },
  );
});

it('loses no letter of an answer without calls', () => {
  fc.assert(
    fc.property(fc.string(), fc.constantFrom('marked' as const, 'json' as const), (answer, dialect) => {
      expect(read(dialect, [...answer])).toEqual({ content: answer, calls: [] });
    }),
  );
});

describe('a template shows how its model calls', () => {
  type Message = { tool_calls?: { function: { name: string; arguments: string } }[] };
  const written = (write: (name: string, args: string) => string) => ({
    render: (messages: readonly object[]) =>
      (messages as Message[])
        .flatMap(({ tool_calls: calls }) => calls ?? [])
        .map((call) => write(call.function.name, call.function.arguments))
        .join(''),
  });
  it.each([
    [
      'Qwen',
      written((n, a) => `<tool_call></tool_call>\n<tool_call>\n{"name": "${n}", "arguments": ${a}}\n</tool_call>`),
      'marked',
    ],
    ['Llama 3', written((n, a) => `{"name": "${n}", "parameters": ${a}}`), 'json'],
    ['Mistral', written((n, a) => `[TOOL_CALLS][{"name": "${n}", "arguments": ${a}}]`), null],
    ['without tools', written(() => ''), null],
    [
      'that refuses tools',
      {
        render: () => {
          throw new Error('no tools');
        },
      },
      null,
    ],
  ])('%s', (_, template, dialect) => {
    expect(toolDialectOf(template)).toBe(dialect);
  });
});
