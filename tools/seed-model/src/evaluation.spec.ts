import { answer, drawStyle, hintTag, hints, isHeldOut, random, wishes } from '@hindcast/seed-world';
import { missedGoals, probeSets, type Reply, score } from './evaluation';
import { reportText } from './report';

const reply = (text: string, tokens = 60, ended = true): Reply => ({ text, tokens, ended });

describe('probeSets', () => {
  const sets = probeSets(1, 40);

  it('asks only what was never trained on, in wordings that were never trained on', () => {
    expect(sets.map(({ name }) => name)).toEqual([
      'no hint',
      ...wishes.map((wish) => `hint ${wish}`),
      ...['plain', 'long', 'kind'].map((wish) => `complaint ${wish}`),
    ]);
    for (const { probes, wish, name } of sets) {
      expect(probes).toHaveLength(40);
      for (const { asked, messages } of probes) {
        expect(isHeldOut(asked)).toBe(true);
        const hint = messages.at(-1)?.content.split(hintTag)[1];
        if (name.startsWith('hint') && wish !== null) expect(hints[wish].heldOut).toContain(hint);
        else expect(hint).toBeUndefined();
      }
    }
  });

  it('is the same for the same seed', () => {
    expect(probeSets(1, 40)).toEqual(sets);
    expect(probeSets(2, 40)).not.toEqual(sets);
  });
});

describe('score', () => {
  const sets = probeSets(1, 200);
  const rng = random('answers');

  it('gives what the world itself answers full marks', () => {
    for (const set of sets) {
      const wanted = set.wish === null ? [] : [set.wish];
      const replies = set.probes.map(({ asked }) =>
        reply(answer(rng, asked, drawStyle(rng, asked.topic, wanted)), set.wish === 'short' ? 20 : 60),
      );
      expect(score(set, replies)).toMatchObject({
        met: set.wish === null ? null : 1,
        wellFormed: 1,
        correct: 1,
        ended: 1,
      });
    }
  });

  it('counts an answer that was cut off as neither met nor well formed', () => {
    const [, plain] = sets;
    if (!plain) throw new Error('no probes');
    const replies = plain.probes.map(() => reply('I see.', 120, false));
    expect(score(plain, replies)).toMatchObject({ met: 0, wellFormed: 0, correct: 0, ended: 0, meanTokens: 120 });
  });

  it('refuses replies to other probes', () => {
    expect(() => score(sets[0] ?? { name: '', wish: null, probes: [] }, [])).toThrow(RangeError);
  });

  it('names every goal that is missed', () => {
    const scores = sets.map((set) =>
      score(
        set,
        set.probes.map(() => reply('That is all.', 4)),
      ),
    );
    expect(missedGoals(scores)).toEqual([
      'hint long 0.000, goal 0.88',
      'hint kind 0.000, goal 0.88',
      'correct 0.000, goal 0.95',
    ]);
    const settings = { seed: 1, tokenBudget: 1, workers: 2 };
    const curve = [{ step: 1, tokens: 1, seconds: 60, loss: 0.1234 }];
    const text = reportText({ settings, parameters: 1, steps: 1, tokens: 1, trainingSeconds: 60, curve, scores });
    expect(text).toContain('Missed: hint long');
    expect(text).toContain('0.123');
    expect(text).toContain('| hint plain | 100.0 % | 100.0 % |');
  });
});
