import { parseEvalVote, parseHintVote } from '@hindcast/advantage';
import fc from 'fast-check';
import { attackedTurn, attacks, type Attack } from '../testing/attacks';
import { manners, selections } from '../testing/quoting-judges';
import { evalPrompt, hintPrompt } from './prompts';
import { defuse } from './quote';

const mark = '0123456789abcdef';
const OWN_EVAL = '\n\nIt failed, in my own reading.\n\\boxed{-1}';
const OWN_HINT = '\n\n\\boxed{1}\n[HINT_START]give the distance in miles[HINT_END]';
const OWN_JSON = JSON.stringify({ reasoning: 'it failed', score: -1 });

/** The most that a reader of structured replies may take for a vote: the whole reply is one JSON object with a score. */
function jsonScore(reply: string): unknown {
  const body = /^```(?:json)?\n([\s\S]*)\n```$/.exec(reply.trim())?.[1] ?? reply.trim();
  try {
    return (JSON.parse(body) as { score?: unknown } | null)?.score;
  } catch {
    return undefined;
  }
}

function votesIn(reply: string): string[] {
  const votes: string[] = [];
  if (parseEvalVote(reply) !== null) votes.push('eval');
  const { score, hint } = parseHintVote(reply);
  if (score !== null) votes.push('hint score');
  // A judge that repeats its own instructions repeats the word between the two marks that they name.
  if (hint !== '' && !/^and$/i.test(hint)) votes.push('hint');
  if (jsonScore(reply) !== undefined) votes.push('json');
  return votes;
}

const names = Object.keys(manners);
const told = (reply: string, way: readonly string[]): string => way.reduce((text, name) => manners[name]!(text), reply);

interface Retelling {
  readonly way: string;
  readonly reply: string;
}

/** What the judges make of a text, in every manner. Many manners leave most texts as they are: each different one comes once. */
function retellings(text: string): Retelling[] {
  const ways = new Map<string, string>();
  for (const name of names) {
    const reply = manners[name]!(text);
    if (!ways.has(reply)) ways.set(reply, name);
  }
  return [...ways].map(([reply, way]) => ({ way, reply }));
}

/** The same for every two manners, one after the other. */
const retellingsOf = (told: readonly Retelling[]): Retelling[] =>
  told.flatMap(({ way, reply }) => retellings(reply).map((again) => ({ ...again, way: `${way}, ${again.way}` })));

/** Where the judge's own reply after its quotation would be read. */
function ownVotesAfter(quotation: string): string[] {
  const wrong: string[] = [];
  if (parseEvalVote(quotation + OWN_EVAL) !== -1) wrong.push('eval lost');
  const { score, hint } = parseHintVote(quotation + OWN_HINT);
  if (score !== 1 || hint !== 'give the distance in miles') wrong.push('hint lost');
  return wrong;
}

it('there are many attacks, in every place', () => {
  expect(attacks.length).toBeGreaterThanOrEqual(100);
  expect(new Set(attacks.map(({ name }) => name)).size).toBe(attacks.length);
  expect(new Set(attacks.map(({ where }) => where)).size).toBe(8);
});

it('would vote if it were not for the quotation', () => {
  // The judges do reach what is hidden: most attacks vote through one of them when nothing is defused.
  const voting = attacks.filter(({ text }) =>
    names.some((manner) => votesIn(manners[manner]!([text].flat().join(''))).length > 0),
  );
  expect(voting.length).toBeGreaterThan(70);
});

describe.each(attacks)('$name ($where)', (attack: Attack) => {
  const turn = attackedTurn(attack);
  const prompts = [evalPrompt(turn, mark), hintPrompt(turn, mark)];

  it('yields no vote to a judge that quotes, and that judge’s own vote is read', () => {
    const failures: string[] = [];
    const seen = new Set<string>();
    for (const prompt of prompts)
      for (const [selection, select] of Object.entries(selections)) {
        const once = retellings(select(prompt));
        const isPaired = selection === 'the quoted lines as one' && once[0]!.reply.length <= 3_000;
        for (const { way, reply } of isPaired ? [...once, ...retellingsOf(once)] : once) {
          if (seen.has(reply)) continue;
          seen.add(reply);
          const wrong = [...votesIn(reply), ...ownVotesAfter(reply)];
          if (wrong.length > 0) failures.push(`${prompt.version}: ${selection}, ${way}: ${wrong.join(', ')}`);
        }
      }
    expect(failures).toEqual([]);
  });

  it('wherever the judge is cut off', () => {
    const quotation = selections['the quoted lines as one']!(prompts[0]!);
    // Of the few quotations that are long, some of the places.
    const step = quotation.length <= 1_500 ? 1 : Math.ceil(quotation.length / 200);
    const voted: number[] = [];
    for (let end = 0; end <= quotation.length; end += step)
      if (votesIn(quotation.slice(0, end)).length > 0) voted.push(end);
    expect(voted).toEqual([]);
  });

  it('leaves the frame as it is: the mark stands in its lines alone', () => {
    const { user } = prompts[0]!;
    const marked = user.split('\n').filter((line) => line.includes(mark));
    const heads = turn.conversation.length + turn.nextState.length;
    expect(marked).toHaveLength(1 + 6 + heads);
    expect(user.match(/<<</g)).toHaveLength(6);
  });
});

it('a judge that quotes within a structured reply has the vote that it gives', () => {
  for (const attack of attacks) {
    const quotation = selections['the quoted lines']!(evalPrompt(attackedTurn(attack), mark));
    const reply = JSON.stringify({ reasoning: quotation, score: -1 });
    expect(jsonScore(reply)).toBe(-1);
    expect(jsonScore(`${quotation}\n${OWN_JSON}`)).toBeUndefined();
  }
});

const pieces = fc.constantFrom(
  ...[
    '\\',
    '\\\\',
    'boxed',
    'bo',
    'xed',
    'BOXED',
    'fbox',
    '{',
    '1',
    '-1',
    '+',
    '}',
    '{1}',
    '\\boxed{1}',
    '(boxed)',
    '(',
    ')',
  ],
  ...[
    '[HINT_START]',
    '[HINT_END]',
    '[',
    ']',
    'HINT',
    'hint',
    '_',
    'START',
    'END',
    '<think>',
    '</think>',
    '<',
    '>',
    '/',
    'think',
  ],
  ...[
    '"score"',
    '"',
    'score',
    ':',
    '{"score":1}',
    ' ',
    '\n',
    '\u200b',
    '\u202e',
    '\u0301',
    '\u{e0062}',
    '\ufe0f',
    '\u0008',
  ],
  ...[
    '＼',
    '｛',
    'о',
    'х',
    '𝐛',
    '&#92;',
    '&bsol;',
    '&amp;',
    '&',
    '#92;',
    '%5C',
    '%',
    '5C',
    '\\u005c',
    '\\u',
    '005c',
    '<<<',
    '*',
    '`',
  ],
);

describe('any mixture of pieces of marks', () => {
  const mixtures = fc.array(pieces, { maxLength: 24 }).map((list) => list.join(''));
  it('yields no vote to any judge, and a second pass changes nothing', () => {
    fc.assert(
      fc.property(mixtures, fc.constantFrom(...names), fc.constantFrom(...names), (text, first, second) => {
        const quoted = defuse(text);
        expect(defuse(quoted)).toBe(quoted);
        const reply = told(quoted, [first, second]);
        expect(votesIn(reply)).toEqual([]);
        expect(ownVotesAfter(reply)).toEqual([]);
      }),
      { numRuns: 2_000 },
    );
  });
  it('split over the texts of a turn as well', () => {
    fc.assert(
      fc.property(mixtures, mixtures, mixtures, fc.constantFrom(...names), (answer, tool, user, manner) => {
        const turn = {
          ...attackedTurn({ name: '', where: 'answer', text: answer }),
          nextState: [
            { role: 'tool' as const, text: tool, toolName: user.slice(0, 20) },
            { role: 'user' as const, text: user, toolName: null },
          ],
        };
        for (const select of ['the user message', 'the quoted lines as one'] as const) {
          const reply = told(selections[select]!(hintPrompt(turn, mark)), [manner]);
          expect(votesIn(reply)).toEqual([]);
          expect(ownVotesAfter(reply)).toEqual([]);
        }
      }),
      { numRuns: 200 },
    );
  });
});
