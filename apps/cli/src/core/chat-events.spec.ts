import { readChatEvent, readChatInput } from './chat-events';

it('reads text, finish and end of a stream', () => {
  const chunk = { id: 'c', model: 'm', choices: [{ delta: { content: 'x' }, finish_reason: 'stop' }] };
  expect(readChatEvent(JSON.stringify(chunk))).toEqual({
    text: 'x',
    finishReason: 'stop',
    responseId: 'c',
    model: 'm',
    isLast: false,
  });
  expect(readChatEvent('[DONE]')).toMatchObject({ text: '', isLast: true });
  expect(readChatEvent('{"choices":[],"usage":{}}')).toMatchObject({ text: '', finishReason: null });
  expect(() => readChatEvent('{"error":{"message":"gone"}}')).toThrow('the answer broke off: gone');
});

it.each<[string, object]>([
  ['hi', { kind: 'message', text: 'hi' }],
  ['//path', { kind: 'message', text: '/path' }],
  ['/good', { kind: 'feedback', reward: 1, correction: '' }],
  ['/bad say it shorter', { kind: 'feedback', reward: -1, correction: 'say it shorter' }],
  ['/new', { kind: 'new' }],
  ['/exit', { kind: 'quit' }],
  ['/what', { kind: 'help' }],
  ['  ', { kind: 'nothing' }],
])('%j at the prompt', (line, input) => {
  expect(readChatInput(line)).toEqual(input);
});
