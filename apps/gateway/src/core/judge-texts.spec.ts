import { cutMiddle, messageText, pairTexts } from './judge-texts';

const user = (content: string): Record<string, unknown> => ({ role: 'user', content });

describe('cutMiddle', () => {
  it('keeps beginning and end and says how much is missing', () => {
    expect(cutMiddle('a'.repeat(50) + 'b'.repeat(50), 10)).toBe(`aaaaa\n[… 90 characters cut …]\nbbbbb`);
    expect(cutMiddle('short', 10)).toBe('short');
  });
  it('never cuts a character in two', () => {
    const text = '🎉'.repeat(40);
    for (let limit = 1; limit < 20; limit++)
      expect(cutMiddle(text, limit)).not.toMatch(/[\ud800-\udbff](?![\udc00-\udfff])/);
  });
});

describe('pairTexts', () => {
  it('carries every message after the answer with role and tool name', () => {
    const calls = ['a', 'b'].map((id) => ({
      id,
      type: 'function',
      function: { name: `tool_${id}`, arguments: '{"x":1}' },
    }));
    const messages = [
      { role: 'system', content: 's' },
      user('q'),
      { role: 'assistant', content: 'I look', tool_calls: calls },
      { role: 'tool', tool_call_id: 'b', content: 'rb' },
      {
        role: 'tool',
        tool_call_id: 'a',
        content: [
          { type: 'text', text: 'ra' },
          { type: 'image_url', image_url: {} },
        ],
      },
      user('and?'),
    ];
    expect(pairTexts(messages, 2)).toEqual({
      conversation: [
        { role: 'system', text: 's', toolName: null },
        { role: 'user', text: 'q', toolName: null },
      ],
      answer: 'I look\n[tool call] tool_a({"x":1})\n[tool call] tool_b({"x":1})',
      nextState: [
        { role: 'tool', text: 'rb', toolName: 'tool_b' },
        { role: 'tool', text: 'ra\n[image_url]', toolName: 'tool_a' },
        { role: 'user', text: 'and?', toolName: null },
      ],
    });
  });

  it.each([
    { why: 'ids were dropped', ids: [undefined, undefined], names: ['tool_a', 'tool_b'] },
    { why: 'ids belong to no call', ids: ['x', 'y'], names: [null, null] },
    { why: 'a result too many', ids: [undefined, undefined, undefined], names: ['tool_a', 'tool_b', null] },
  ])('$why: tool names $names', ({ ids, names }) => {
    const calls = ['a', 'b'].map((id) => ({ type: 'function', function: { name: `tool_${id}`, arguments: '{}' } }));
    const results = ids.map((id) => ({ role: 'tool', content: 'r', ...(id !== undefined && { tool_call_id: id }) }));
    const { nextState } = pairTexts([user('q'), { role: 'assistant', tool_calls: calls }, ...results], 1);
    expect(nextState.map(({ toolName }) => toolName)).toEqual(names);
  });

  it('D18 bounds every part, whatever comes', () => {
    const messages = [
      ...Array.from({ length: 100 }, () => user('c'.repeat(5_000))),
      { role: 'assistant', content: 'a'.repeat(1_000_000) },
      ...Array.from({ length: 50 }, () => user('n'.repeat(100_000))),
    ];
    const { conversation, answer, nextState } = pairTexts(messages, 100);
    const size = (texts: readonly { text: string }[]): number => texts.reduce((sum, { text }) => sum + text.length, 0);
    expect(size(conversation)).toBeLessThan(30_000);
    expect(answer.length).toBeLessThan(17_000);
    expect(nextState).toHaveLength(50);
    expect(size(nextState)).toBeLessThan(110_000);
    expect(nextState[0]!.text).toContain('characters cut');
  });

  const many = (count: number, message: object = user('')): Record<string, unknown>[] =>
    Array.from({ length: count }, () => ({ ...message }));
  const bytes = (texts: unknown): number => Buffer.byteLength(JSON.stringify(texts));
  const answer = { role: 'assistant', content: 'a' };
  it.each([
    { why: 'messages without text use up no characters', before: many(5_000), after: many(5_000) },
    { why: 'short messages', before: many(5_000, user('ok')), after: many(5_000, user('ok')) },
    {
      why: 'control characters are escaped',
      before: many(50, user('\u0001'.repeat(9_000))),
      after: many(50, user('\u0001'.repeat(9_000))),
    },
    {
      why: 'three bytes a character',
      before: many(50, user('語'.repeat(9_000))),
      after: many(500, user('語'.repeat(9_000))),
    },
    {
      why: 'names of tools',
      before: many(20, { role: 'tool', name: 'n'.repeat(100_000), content: '' }),
      after: many(20, { role: 'tool', name: '\u0001'.repeat(100_000), content: '' }),
    },
  ])('bounds the bytes of a pair: $why', ({ before, after }) => {
    expect(bytes(pairTexts([...before, answer, ...after], before.length))).toBeLessThanOrEqual(256 * 1024);
  });

  it('says how many messages were left out, and where', () => {
    const numbered = (count: number): Record<string, unknown>[] =>
      Array.from({ length: count }, (_, index) => user(`${index}`));
    const { conversation, nextState } = pairTexts([...numbered(1_000), answer, ...numbered(1_000)], 1_000);
    expect(conversation).toHaveLength(256);
    expect(conversation[0]!.text).toBe('[… 744 messages left out …]\n744');
    expect(conversation.at(-1)!.text).toBe('999');
    expect(nextState).toHaveLength(256);
    expect(nextState.map(({ text }) => text).filter((text) => text.includes('left out'))).toEqual([
      '[… 744 messages left out …]\n872',
    ]);
    expect([nextState[0]!.text, nextState[127]!.text, nextState.at(-1)!.text]).toEqual(['0', '127', '999']);
  });

  it('leaves no mark where nothing is missing', () => {
    const { conversation, nextState } = pairTexts([...many(256, user('x')), answer, ...many(256, user('x'))], 256);
    expect(new Set([...conversation, ...nextState].map(({ text }) => text))).toEqual(new Set(['x']));
  });

  it('never cuts the name of a tool in the middle of a character', () => {
    const name = `a${'🎉'.repeat(100)}`;
    const { nextState } = pairTexts([answer, { role: 'tool', name, content: 'r' }], 0);
    expect(nextState[0]!.toolName).toMatch(/^a(🎉)+…$/u);
  });

  it('reads messages of any shape', () => {
    expect(
      messageText({ content: [1, null, { type: 'x' }], tool_calls: [null, {}], function_call: { name: 'f' } }),
    ).toBe('\n\n[x]\n[tool call] f()');
  });
});
