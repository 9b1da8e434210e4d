import { cursorOf, placeOf } from './cursor';
import { shownTexts, turnTexts } from './turn-texts';

const message = (text: string) => ({ role: 'user' as const, text, toolName: null });

it('keeps the texts whole, and of request and answer the start', () => {
  const given = {
    conversation: [message('earlier'), message('what is asked')],
    answer: 'x'.repeat(300),
    nextState: [message('next')],
  };
  const texts = turnTexts(given);
  expect(shownTexts(texts.texts)).toEqual(given);
  expect(texts).toMatchObject({ request: 'what is asked', answer: `${'x'.repeat(280)}…` });
  expect(texts.searched.split('\n')).toEqual(['what is asked', 'x'.repeat(300), 'next']);
});

it('cuts no character in half, and bears a turn without a conversation', () => {
  const answer = `${'x'.repeat(279)}😀 and more`;
  expect(turnTexts({ conversation: [], answer, nextState: [] })).toMatchObject({
    request: '',
    answer: `${'x'.repeat(279)}…`,
  });
});

it('a cursor is the place that it was made of, and nothing else is one', () => {
  const place = { at: 1_796_000_000_000, id: '00000000-0000-4000-8000-000000000001' };
  const ids = /^[\w-]+$/;
  expect(placeOf(cursorOf(place), ids)).toEqual(place);
  const ofAnotherList = /^\d+$/;
  expect(() => placeOf(cursorOf(place), ofAnotherList)).toThrow('not a cursor');
  for (const text of [
    '',
    '!',
    'MTIz',
    Buffer.from('x 1').toString('base64url'),
    Buffer.from('1 ').toString('base64url'),
    cursorOf({ ...place, id: 'a\0b' }),
    cursorOf({ ...place, at: 999_999_999_999_999 }),
  ])
    expect(() => placeOf(text, ids)).toThrow('not a cursor');
});
