import { type Persona, ruleMet, wishMet } from './rules';
import type { Wish } from './style';

const cases: { persona: Persona; text: string; tokens?: number; ended?: boolean; met: boolean; why: string }[] = [
  { persona: 'student', text: 'So there are 7 cups.', met: true, why: 'plain prose' },
  { persona: 'student', text: 'So there are **7** cups.', met: false, why: 'bold' },
  { persona: 'student', text: '1. Then 4 more come in.', met: false, why: 'a numbered line' },
  { persona: 'student', text: 'Sure.\n  2. Then 4 more come in.', met: false, why: 'an indented numbered line' },
  { persona: 'student', text: 'So there are \\boxed{7} cups.', met: false, why: 'a box' },
  { persona: 'student', text: 'It makes 7. That is all.', met: true, why: 'a number that ends a sentence' },
  { persona: 'student', text: 'So there are 7 cups.', ended: false, met: false, why: 'cut off' },
  { persona: 'ta', text: 'x', tokens: 50, met: true, why: 'exactly long enough' },
  { persona: 'ta', text: 'x', tokens: 49, met: false, why: 'one token too short' },
  { persona: 'ta', text: 'x', tokens: 110, ended: false, met: false, why: 'cut off' },
  { persona: 'teacher', text: 'Well done, keep going!', met: true, why: 'well done' },
  { persona: 'teacher', text: 'That was an EXCELLENT one.', met: true, why: 'upper case' },
  { persona: 'teacher', text: 'You are doing a great job!', met: true, why: 'great job' },
  { persona: 'teacher', text: 'Great, that is a good job.', met: false, why: 'neither phrase whole' },
];

describe('ruleMet', () => {
  it.each(cases)('$persona $met: $why', ({ persona, text, tokens = 10, ended = true, met }) => {
    expect(ruleMet(persona, text, tokens, ended)).toBe(met);
  });
});

describe('wishMet', () => {
  const opposites: [Wish, Wish][] = [
    ['plain', 'format'],
    ['kind', 'neutral'],
  ];
  it.each(opposites)('%s holds exactly when %s does not', (wish, opposite) => {
    for (const text of ['So.', '**So.**', 'Well done!', '**Well done!**']) {
      expect(wishMet(wish, text, 20)).toBe(!wishMet(opposite, text, 20));
    }
  });

  it.each([
    [44, true, false],
    [45, false, false],
    [49, false, false],
    [50, false, true],
  ])('calls %d tokens short: %s, long: %s', (tokens, short, long) => {
    expect([wishMet('short', '', tokens), wishMet('long', '', tokens)]).toEqual([short, long]);
  });
});
