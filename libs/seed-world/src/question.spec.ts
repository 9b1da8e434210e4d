import { heldOutQuestions, isHeldOut, question } from './question';
import { random } from './random';

describe('question', () => {
  const rng = random('questions');
  const drawn = Array.from({ length: 4000 }, () => question(rng));

  it('is half arithmetic, a quarter definitions, a quarter advice', () => {
    const share = (topic: string) => drawn.filter((asked) => asked.topic === topic).length / drawn.length;
    expect(share('arithmetic')).toBeCloseTo(0.5, 1);
    expect(share('definition')).toBeCloseTo(0.25, 1);
    expect(share('advice')).toBeCloseTo(0.25, 1);
  });

  it('leaves no placeholder open', () => {
    for (const asked of drawn) expect(asked.text).not.toMatch(/[{}]/);
  });

  it('knows the result, which is never negative', () => {
    for (const asked of drawn) {
      if (asked.topic === 'arithmetic') expect(asked.facts.result).toBeGreaterThan(1);
    }
  });

  it('never asks a held-out question', () => {
    expect(drawn.filter(isHeldOut)).toEqual([]);
  });

  it('asks about every word and every goal', () => {
    const subjects = drawn.flatMap((asked) =>
      asked.topic === 'definition' ? [asked.word] : asked.topic === 'advice' ? [asked.goal] : [],
    );
    expect(new Set(subjects).size).toBe(16 + 10);
  });
});

describe('heldOutQuestions', () => {
  it('returns held-out questions only, of all topics, the same for the same seed', () => {
    const asked = heldOutQuestions(1, 200);
    expect(asked.every(isHeldOut)).toBe(true);
    expect(new Set(asked.map(({ topic }) => topic)).size).toBe(3);
    expect(heldOutQuestions(1, 200)).toEqual(asked);
    expect(heldOutQuestions(2, 200)).not.toEqual(asked);
    expect(heldOutQuestions(1, 40)).toEqual(asked.slice(0, 40));
  });

  it('holds out several definitions and goals', () => {
    const texts = (topic: string) =>
      new Set(heldOutQuestions(1, 2000).flatMap((asked) => (asked.topic === topic ? [asked.text] : [])));
    expect(texts('definition').size).toBeGreaterThan(8);
    expect(texts('advice').size).toBeGreaterThan(5);
  });
});
