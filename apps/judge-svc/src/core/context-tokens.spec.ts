import fc from 'fast-check';
import { cutMiddle, estimateTokens, joinCut } from './context-tokens';

const HALF = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/;

describe('estimateTokens', () => {
  // Measured with the tokenizers of Llama 2, Llama 3 and OpenAI's cl100k and o200k: the most that one of the four made of it.
  it.each([
    { name: 'English', text: 'Please tell me how far the moon is from the earth, and answer in miles. ', measured: 18 },
    { name: 'Chinese', text: '请问月球离地球有多远？我想知道平均距离,单位是公里,谢谢你的回答。', measured: 49 },
    { name: 'Korean', text: '달까지의 거리를 알려 주세요. 가능한 한 짧게 대답해 주세요. 감사합니다.', measured: 61 },
    { name: 'Arabic', text: 'كم يبعد القمر عن الأرض؟ من فضلك أجب باختصار وبدون قوائم. شكرا جزيلا لك.', measured: 68 },
    { name: 'Greek', text: 'Πόσο μακριά είναι το φεγγάρι από τη γη; Παρακαλώ απαντήστε σύντομα.', measured: 65 },
    { name: 'Russian', text: 'Как далеко Луна от Земли? Пожалуйста, отвечай кратко и без списков.', measured: 34 },
    { name: 'emoji', text: '😀🎉👨‍👩‍👧🏳️‍🌈❤️🚀', measured: 40 },
    { name: 'TeX', text: '\\boxed{\\frac{1}{2}} \\int_0^1 x^2 \\, dx = \\frac{1}{3}', measured: 29 },
    { name: 'JSON', text: '{"id":"a1b2","items":[1,-1,{"x":null}]}', measured: 21 },
    {
      name: 'a log',
      text: '2026-11-30T23:27:30.123Z ERROR [worker-7] connection refused ECONNREFUSED 127.0.0.1:5432',
      measured: 53,
    },
    { name: 'base64', text: 'yv66vgAAADQAIgoABgAUCQAVABYIABcKABgAGQcAGgcAGwEABjxpbml0PgEAAygp', measured: 44 },
    { name: 'digits', text: '3141592653589793238462643383279502884197', measured: 40 },
    { name: 'random letters', text: 'qzxvkjwqpmzbtxnrqwjkzxcvbqpwfjgh', measured: 26 },
  ])('is not below what tokenizers make of $name', ({ text, measured }) => {
    expect(estimateTokens(text)).toBeGreaterThanOrEqual(measured);
  });
  it('hardly depends on where a text is divided', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary' }), (a, b) => {
        expect(estimateTokens(a + b)).toBeLessThanOrEqual(estimateTokens(a) + estimateTokens(b) + 10);
      }),
    );
  });
});

describe('cutMiddle', () => {
  it('keeps what fits', () => expect(cutMiddle('short', 5)).toEqual(['short']));
  it('keeps both ends, in whole words', () => {
    const text = `first ${'word '.repeat(500)}last`;
    const [head, tail] = cutMiddle(text, 60) as [string, string];
    expect(head).toMatch(/^first (word ?)+$/);
    expect(tail).toMatch(/^ ?(word )+last$/);
    expect(text.startsWith(head) && text.endsWith(tail)).toBe(true);
  });
  it('stays within the budget with its mark, and never leaves half a character', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', minLength: 50 }), fc.integer({ min: 24, max: 200 }), (unit, budget) => {
        const text = unit.repeat(5);
        const shown = cutMiddle(text, budget);
        const cut = joinCut(shown, text.length);
        expect(estimateTokens(cut)).toBeLessThanOrEqual(budget + 1);
        expect(cut).not.toMatch(HALF);
      }),
    );
  });
  it.each([-5, 0, 3])('with no room to speak of (%d tokens) shows the mark alone', (budget) => {
    expect(joinCut(cutMiddle('a longer text than that', budget), 23)).toBe('\n[… 23 characters cut …]\n');
  });
});
