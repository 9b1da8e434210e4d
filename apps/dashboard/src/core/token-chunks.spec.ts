import * as fc from 'fast-check';
import { shownText, spokenText, tokenChunks, visibleText } from './token-chunks';

describe('runs of tokens', () => {
  it('hold every token once, in order, none longer than twice the size', () =>
    fc.assert(
      fc.property(fc.array(fc.constantFrom('a', ' b', '\n', null)), fc.integer({ min: 1, max: 20 }), (texts, size) => {
        const chunks = tokenChunks(texts, texts.length, size);
        expect(chunks.flatMap(({ from, to }) => texts.slice(from, to))).toEqual(texts);
        for (const { from, to } of chunks) expect(to - from).toBeLessThanOrEqual(2 * size);
      }),
    ));

  it('end at a line’s end where one is near', () => {
    const texts = ['a', 'a', 'a', '\n', 'b'];
    expect(tokenChunks(texts, 5, 2)).toEqual([
      { from: 0, to: 4 },
      { from: 4, to: 5 },
    ]);
    expect(tokenChunks(null, 5, 4)).toEqual([{ from: 0, to: 5 }]);
  });
});

it('what cannot be seen gets a sign', () => {
  expect([shownText('\n', 1), shownText('', 1), shownText(null, 7), shownText(' a', 1)]).toEqual([
    '⏎\n',
    '∅',
    '⟨7⟩',
    ' a',
  ]);
  expect([visibleText(' a\n'), visibleText(null), visibleText('')]).toEqual(['␣a⏎', '–', '∅']);
});

it('what a screen reader would pass over is said', () => {
  expect([spokenText(' a', 1), spokenText('.', 1)]).toEqual([undefined, undefined]);
  expect([
    spokenText('\n', 1),
    spokenText('  ', 1),
    spokenText(' 🌊', 5),
    spokenText(null, 7),
    spokenText('', 7),
  ]).toEqual(['new line', 'white space', '🌊, id 5', 'token without a text, id 7', 'token without a text, id 7']);
});
