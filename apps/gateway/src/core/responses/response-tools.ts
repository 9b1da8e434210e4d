import { shown } from './content-parts';
import { RequestRefusal, listAt, objectAt, textAt } from './request-refusal';

type Json = Record<string, unknown>;

/** What a request says of tools, as chat completions know it. */
export interface ChatTools {
  readonly tools?: readonly Json[];
  readonly tool_choice?: unknown;
  readonly parallel_tool_calls?: unknown;
}

/** Names of the request's custom tools: their calls are answered as custom calls. */
export const customTools = (request: Json): ReadonlySet<string> =>
  new Set(
    (Array.isArray(request['tools']) ? (request['tools'] as Json[]) : [])
      .filter((tool) => tool?.['type'] === 'custom')
      .flatMap((tool) => (typeof tool['name'] === 'string' ? [tool['name']] : [])),
  );

/**
 * Tools and their choice. Engines refuse a choice without tools, so it goes with them. `allowed_tools` becomes the list of tools
 * itself, since engines do not know it.
 *
 * @throws RequestRefusal for what only OpenAI's own servers can run
 */
export function chatTools(request: Json): ChatTools {
  const tools = request['tools'] == null ? [] : listAt(request['tools'], 'tools').map(chatTool);
  const choice = toolChoice(request['tool_choice']);
  const offered = choice.only ? tools.filter((tool) => choice.only!.has(nameOf(tool))) : tools;
  if (offered.length === 0) return {};
  const parallel = request['parallel_tool_calls'];
  return {
    tools: offered,
    ...(choice.value !== null && { tool_choice: choice.value }),
    ...(parallel != null && { parallel_tool_calls: parallel }),
  };
}

const nameOf = (tool: Json): string => String((tool['function'] as Json)['name']);

function chatTool(value: unknown, index: number): Json {
  const param = `tools[${index}]`;
  const tool = objectAt(value, param);
  if (tool['type'] === 'custom') return customTool(tool, param);
  if (tool['type'] !== 'function') {
    throw new RequestRefusal(
      `${param}: tools of type ${shown(tool['type'])} are not supported, only functions and custom tools that the client runs`,
      `${param}.type`,
    );
  }
  const name = textAt(tool['name'], `${param}.name`);
  const described = tool['description'] != null ? { description: tool['description'] } : {};
  const parameters = tool['parameters'] != null ? { parameters: tool['parameters'] } : {};
  const strict = tool['strict'] != null ? { strict: tool['strict'] } : {};
  return { type: 'function', function: { name, ...described, ...parameters, ...strict } };
}

/** Engines know functions only: a custom tool becomes a function of one text. Its grammar is told, not enforced. */
function customTool(tool: Json, param: string): Json {
  const name = textAt(tool['name'], `${param}.name`);
  const format = tool['format'] == null ? null : objectAt(tool['format'], `${param}.format`);
  const grammar =
    format?.['type'] === 'grammar'
      ? `The input follows this ${textAt(format['syntax'], `${param}.format.syntax`)} grammar:\n${textAt(format['definition'], `${param}.format.definition`)}`
      : '';
  const description = [
    tool['description'] == null ? '' : textAt(tool['description'], `${param}.description`),
    grammar,
  ].filter(Boolean);
  return {
    type: 'function',
    function: {
      name,
      ...(description.length > 0 && { description: description.join('\n\n') }),
      parameters: { type: 'object', properties: { input: { type: 'string' } }, required: ['input'] },
    },
  };
}

/** Arguments of the function that stands for a custom tool. */
export const customArguments = (input: string): string => JSON.stringify({ input });

/** Input of a custom tool in the arguments that the model wrote; what it wrote otherwise stays as it is. */
export function customInput(written: string): string {
  try {
    const value = JSON.parse(written) as Json | null;
    return typeof value?.['input'] === 'string' ? value['input'] : written;
  } catch {
    return written;
  }
}

interface Choice {
  /** For the engine; `null`: nothing is said. */
  readonly value: unknown;
  /** The only tools that may be called; `null`: all. */
  readonly only: ReadonlySet<string> | null;
}

function toolChoice(choice: unknown): Choice {
  if (choice === undefined || choice === null) return { value: null, only: null };
  if (choice === 'auto' || choice === 'none' || choice === 'required') return { value: choice, only: null };
  const { type, name, mode, tools } = objectAt(choice, 'tool_choice');
  if (type === 'function' || type === 'custom')
    return { value: { type: 'function', function: { name: textAt(name, 'tool_choice.name') } }, only: null };
  if (type === 'allowed_tools' && (mode === 'auto' || mode === 'required')) {
    const names = listAt(tools, 'tool_choice.tools').map((tool, index) => {
      const param = `tool_choice.tools[${index}]`;
      return textAt(objectAt(tool, param)['name'], `${param}.name`);
    });
    return { value: mode, only: new Set(names) };
  }
  throw new RequestRefusal(`tool_choice of type ${shown(type)} is not supported`, 'tool_choice');
}
