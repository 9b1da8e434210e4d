import { conversation } from './conversation';
import { hints, hintTag } from './hints';
import { heldOutQuestions } from './question';
import { random } from './random';
import { complaints, neutralReplies, thanks, vagueComplaints } from './replies';
import { wishes } from './style';

const documents = (seed: string, count: number) => {
  const rng = random(seed);
  return Array.from({ length: count }, () => conversation(rng));
};

describe('conversation', () => {
  it('is the same for the same seed', () => {
    expect(documents('a', 20)).toEqual(documents('a', 20));
    expect(documents('b', 20)).not.toEqual(documents('a', 20));
  });

  it('alternates user and assistant after an optional system message, and ends with the assistant', () => {
    for (const { messages } of documents('roles', 500)) {
      const roles = messages.map(({ role }) => role).filter((role, index) => index > 0 || role !== 'system');
      expect(roles).toEqual(roles.map((_, index) => (index % 2 === 0 ? 'user' : 'assistant')));
      expect(roles.length % 2).toBe(0);
    }
  });

  it('never shows a held-out hint or a held-out question', () => {
    const heldOut = [
      ...wishes.flatMap((wish) => hints[wish].heldOut),
      ...heldOutQuestions(1, 500).map(({ text }) => text),
    ];
    const corpus = documents('held out', 5000)
      .flatMap(({ messages }) => messages.map(({ content }) => content))
      .join('\n');
    expect(heldOut.filter((text) => corpus.includes(text))).toEqual([]);
  });

  it('shows only as many wordings of each hint as asked for', () => {
    const rng = random('few');
    const corpus = Array.from({ length: 3000 }, () => conversation(rng, 2))
      .flatMap(({ messages }) => messages.map(({ content }) => content))
      .join('\n');
    const tagged = (text: string) => corpus.includes(hintTag + text);
    for (const wish of wishes) {
      expect(hints[wish].seen.slice(0, 2).every(tagged)).toBe(true);
      expect(hints[wish].seen.slice(2).some(tagged)).toBe(false);
    }
  });

  it('shows every seen hint, every complaint and all kinds of documents', () => {
    const contents = documents('shown', 8000).flatMap(({ messages }) => messages.map(({ content }) => content));
    const corpus = contents.join('\n');
    const shown = [...wishes.flatMap((wish) => [...hints[wish].seen, ...complaints[wish]]), ...vagueComplaints];
    expect(shown.filter((text) => !corpus.includes(text))).toEqual([]);
    expect(contents.filter((content) => content.includes(hintTag)).length / 8000).toBeCloseTo(0.4 + 0.25 * 0.35, 1);
  });
});

describe('wordings', () => {
  it.each(wishes)('has 32 seen and at least 4 held-out hints for %s', (wish) => {
    expect(hints[wish].seen).toHaveLength(32);
    expect(hints[wish].heldOut.length).toBeGreaterThanOrEqual(4);
  });

  it('never says the same in two places', () => {
    const all = [
      ...wishes.flatMap((wish) => [...hints[wish].seen, ...hints[wish].heldOut, ...complaints[wish]]),
      ...[vagueComplaints, thanks, neutralReplies].flat(),
    ].map((text) => text.toLowerCase());
    expect(all.filter((text, index) => all.indexOf(text) !== index)).toEqual([]);
  });

  it('has no held-out hint inside a seen one', () => {
    const seen = wishes.flatMap((wish) => hints[wish].seen).map((text) => text.toLowerCase());
    const heldOut = wishes.flatMap((wish) => hints[wish].heldOut).map((text) => text.toLowerCase().replace(/\.$/, ''));
    expect(heldOut.filter((text) => seen.some((other) => other.includes(text)))).toEqual([]);
  });
});
