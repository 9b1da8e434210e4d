import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Template } from '@huggingface/jinja';
import { z } from 'zod';
import { readJson } from './config';
import { ModelFormatError } from './errors';

/** A message as a template sees it: role and whatever else the caller has (content, tool_calls, name, ...). */
export type TemplateMessage = { readonly role: string } & Readonly<Record<string, unknown>>;

export interface RenderOptions {
  readonly tools?: readonly unknown[] | null;
  /** End with the mark that begins an answer. Default true. */
  readonly addGenerationPrompt?: boolean;
  /** Further variables of the template (`chat_template_kwargs`), such as `enable_thinking`. */
  readonly templateArguments?: Readonly<Record<string, unknown>>;
}

const SpecialToken = z.union([z.string(), z.looseObject({ content: z.string() }).transform(({ content }) => content)]);
const TokenizerConfigFile = z.looseObject({
  chat_template: z.union([z.string(), z.array(z.looseObject({ name: z.string(), template: z.string() }))]).nullish(),
  bos_token: SpecialToken.nullish(),
  eos_token: SpecialToken.nullish(),
  pad_token: SpecialToken.nullish(),
  unk_token: SpecialToken.nullish(),
});

/** The chat template of a Hugging Face directory: `chat_template.jinja`, else `chat_template` of tokenizer_config.json. */
export class ChatTemplate {
  private constructor(
    private readonly templates: ReadonlyMap<string, Template>,
    private readonly specialTokens: Readonly<Record<string, string>>,
    private readonly knowsDevelopers: boolean,
  ) {}

  static async load(dir: string): Promise<ChatTemplate> {
    const path = join(dir, 'tokenizer_config.json');
    const parsed = TokenizerConfigFile.safeParse(await readJson(path));
    if (!parsed.success)
      throw new ModelFormatError(
        path,
        parsed.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`).join('; '),
      );
    const { chat_template: inConfig, bos_token, eos_token, pad_token, unk_token } = parsed.data;
    const sources = (await readTemplateFile(dir)) ?? inConfig;
    if (!sources) throw new ModelFormatError(path, 'has no chat_template, and there is no chat_template.jinja');
    const named = typeof sources === 'string' ? [{ name: 'default', template: sources }] : sources;
    const specialTokens = Object.entries({ bos_token, eos_token, pad_token, unk_token }).filter(
      (entry): entry is [string, string] => entry[1] != null,
    );
    return new ChatTemplate(
      new Map(named.map(({ name, template }) => [name, new Template(template)])),
      Object.fromEntries(specialTokens),
      named.some(({ template }) => template.includes('developer')),
    );
  }

  /**
   * The prompt text of a conversation. Throws what the template raises (`raise_exception`) or cannot evaluate.
   * A directory with several templates uses `tool_use` when there are tools, else `default`.
   */
  render(messages: readonly TemplateMessage[], options: RenderOptions = {}): string {
    const tools = options.tools?.length ? options.tools : null;
    const template = (tools && this.templates.get('tool_use')) ?? this.templates.get('default');
    if (!template)
      throw new Error(`none of the chat templates (${[...this.templates.keys()].join(', ')}) is called default`);
    return template.render({
      ...this.specialTokens,
      ...options.templateArguments,
      messages: messages.map((message) => templateMessage(message, this.knowsDevelopers)),
      tools,
      documents: options.templateArguments?.['documents'] ?? null,
      add_generation_prompt: options.addGenerationPrompt ?? true,
    });
  }
}

async function readTemplateFile(dir: string): Promise<string | null> {
  const path = join(dir, 'chat_template.jinja');
  return existsSync(path) ? await readFile(path, 'utf8') : null;
}

/**
 * From the OpenAI form to the one that templates are written for, as vLLM does it: text parts become one string, the JSON text of
 * tool-call arguments becomes the value, and a developer is the system for a template that does not know the role.
 */
function templateMessage(message: TemplateMessage, knowsDevelopers: boolean): TemplateMessage {
  const { role, content, tool_calls: toolCalls } = message;
  return {
    ...message,
    role: role === 'developer' && !knowsDevelopers ? 'system' : role,
    ...(Array.isArray(content) && content.every(isTextPart) && { content: content.map(({ text }) => text).join('\n') }),
    ...(Array.isArray(toolCalls) && { tool_calls: toolCalls.map(withParsedArguments) }),
  };
}

function isTextPart(part: unknown): part is { text: string } {
  return isObject(part) && part['type'] === 'text' && typeof part['text'] === 'string';
}

function withParsedArguments(call: unknown): unknown {
  if (!isObject(call) || !isObject(call['function'])) return call;
  const text = call['function']['arguments'];
  if (typeof text !== 'string') return call;
  return { ...call, function: { ...call['function'], arguments: text === '' ? {} : parsedOrText(text) } };
}

/** A policy may write arguments that are no JSON; the template then shows them as they are. */
function parsedOrText(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
