import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ChatTemplate, type TemplateMessage } from './chat-template';
import { SEED_DIR } from './testing/models';
import reference from './testing/reference-messages.json';
import { temporaryFolder } from './testing/temporary-folder';

const folder = temporaryFolder();
const conversation = [
  { role: 'system', content: 'Be kind.' },
  { role: 'user', content: 'Hi' },
];

async function templateOf(chatTemplate: unknown, more: object = {}): Promise<ChatTemplate> {
  await writeFile(join(folder(), 'tokenizer_config.json'), JSON.stringify({ chat_template: chatTemplate, ...more }));
  return await ChatTemplate.load(folder());
}

describe('chat template', () => {
  it('renders the seed model’s, with and without the mark that begins an answer', async () => {
    const template = await ChatTemplate.load(SEED_DIR);
    expect(template.render(conversation)).toBe('<|bos|><|system|>Be kind.<|end|><|user|>Hi<|end|><|assistant|>');
    expect(template.render(conversation, { addGenerationPrompt: false })).toBe(
      '<|bos|><|system|>Be kind.<|end|><|user|>Hi<|end|>',
    );
  });

  it('knows the special tokens, as text or as an object, and the caller’s arguments', async () => {
    const template = await templateOf('{{ bos_token }}{{ eos_token }}{% if enable_thinking %}<think>{% endif %}', {
      bos_token: '<s>',
      eos_token: { content: '</s>' },
    });
    expect(template.render([])).toBe('<s></s>');
    expect(template.render([], { templateArguments: { enable_thinking: true } })).toBe('<s></s><think>');
  });

  it('has tools as none without tools, and prefers tool_use with them', async () => {
    const template = await templateOf([
      { name: 'default', template: 'plain {{ tools is none }}' },
      { name: 'tool_use', template: '{{ tools[0].function.name }}' },
    ]);
    expect(template.render([])).toMatch(/^plain true$/i);
    expect(template.render([], { tools: [] })).toMatch(/^plain true$/i);
    expect(template.render([], { tools: [{ type: 'function', function: { name: 'add' } }] })).toBe('add');
  });

  it.each(reference.normalize as unknown as [TemplateMessage[], TemplateMessage[]][])(
    'normalize: %j → %j',
    async (messages, normalized) => {
      const template = await templateOf('{{ messages | tojson }}');
      expect(JSON.parse(template.render(messages))).toEqual(normalized);
    },
  );

  it('leaves the developer to a template that knows the role', async () => {
    const template = await templateOf(
      "{% for m in messages %}{% if m.role == 'developer' %}dev{% endif %}{% endfor %}",
    );
    expect(template.render([{ role: 'developer', content: 'd' }])).toBe('dev');
    const seed = await ChatTemplate.load(SEED_DIR);
    expect(seed.render([{ role: 'developer', content: 'd' }])).toBe(seed.render([{ role: 'system', content: 'd' }]));
  });

  it('gives tool-call arguments as values and text parts as one text', async () => {
    const template = await templateOf(
      '{% for m in messages %}{{ m.content }}{% for c in m.tool_calls or [] %}{{ c.function.arguments.path }}{% endfor %}{% endfor %}',
    );
    const call = (text: string) => ({
      role: 'assistant',
      content: '',
      tool_calls: [{ type: 'function', function: { name: 'read', arguments: text } }],
    });
    const parts = [
      { type: 'text', text: 'a' },
      { type: 'text', text: 'b' },
    ];
    expect(template.render([{ role: 'user', content: parts }, call('{"path":"x"}')])).toBe('a\nbx');
    expect(template.render([call(''), call('{"pa')])).toBe('');
  });

  it('throws what a template raises', async () => {
    const template = await templateOf("{{ raise_exception('roles must alternate') }}");
    expect(() => template.render([])).toThrow('roles must alternate');
  });

  it('refuses a directory without a template, and takes chat_template.jinja before the configuration', async () => {
    await expect(templateOf(undefined)).rejects.toThrow('has no chat_template');
    await writeFile(join(folder(), 'chat_template.jinja'), 'from the file');
    expect((await templateOf('from the configuration')).render([])).toBe('from the file');
  });
});
