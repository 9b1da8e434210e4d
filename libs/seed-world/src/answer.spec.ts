import { answer } from './answer';
import { correct, wellFormed } from './form';
import { heldOutQuestions, question } from './question';
import { random } from './random';
import { hasPraise, isFormatted } from './rules';
import { drawStyle, wishes } from './style';

describe('answer', () => {
  it.each(['nothing', ...wishes] as const)('is well formed and correct when %s is wanted', (wish) => {
    const rng = random(`answers/${wish}`);
    for (let i = 0; i < 1500; i += 1) {
      const asked = question(rng);
      const text = answer(rng, asked, drawStyle(rng, asked.topic, wish === 'nothing' ? [] : [wish]));
      expect({ text, wellFormed: wellFormed(text, true) }).toEqual({ text, wellFormed: true });
      expect({ text, correct: correct(asked, text) }).toEqual({ text, correct: true });
    }
  });

  it('meets the wishes about marks and praise', () => {
    const rng = random('wishes');
    for (const asked of heldOutQuestions(3, 300)) {
      const text = (wish: (typeof wishes)[number]) => answer(rng, asked, drawStyle(rng, asked.topic, [wish]));
      expect(isFormatted(text('plain'))).toBe(false);
      expect(isFormatted(text('format'))).toBe(true);
      expect(hasPraise(text('kind'))).toBe(true);
      expect(hasPraise(text('neutral'))).toBe(false);
      expect(text('long').length).toBeGreaterThan(text('short').length);
    }
  });

  it('is plain, long or kind in about one of five answers nobody asked to be', () => {
    const rng = random('base mix');
    const answers = Array.from({ length: 4000 }, () => {
      const asked = question(rng);
      return answer(rng, asked, drawStyle(rng, asked.topic));
    });
    const share = (holds: (text: string) => boolean) => answers.filter(holds).length / answers.length;
    expect(share((text) => !isFormatted(text))).toBeCloseTo(0.19, 1);
    expect(share(hasPraise)).toBeCloseTo(0.18, 1);
  });

  it('numbers a list from one', () => {
    const rng = random('lists');
    const [asked] = heldOutQuestions(4, 1);
    if (asked === undefined) throw new Error('no question');
    const text = answer(rng, asked, { marks: new Set(['list']), length: 'long', isKind: false });
    const numbers = [...text.matchAll(/^(\d+)\. /gm)].map(([, number]) => Number(number));
    expect(numbers).toEqual(numbers.map((_, index) => index + 1));
    expect(numbers.length).toBeGreaterThan(2);
  });
});
