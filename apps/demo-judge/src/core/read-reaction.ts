import type { Wish } from '@hindcast/seed-world';

/** How a user took an answer, and the wish that the words name. */
export type Reaction = { readonly verdict: 'approves' | 'rejects' | 'neutral'; readonly wish: Wish | null };

const THANKS = /\bthank|^yes, that is what i wanted|\bperfect\b/;
// In the order of reading: a wording of a later row may contain words of an earlier one only with its negation.
const WISHES: readonly (readonly [Wish, RegExp])[] = [
  [
    'neutral',
    /\b(no praise|(do not|don't|without) (praise|any praise|nice words|compliment)|without nice words|leave out the compliments?|no compliments?)/,
  ],
  ['kind', /\b(kind word|praise|encourag|something nice|friendly|nice word|warm)/],
  ['short', /\b(too long|keep it short|brief\?|be brief|shorter|just the answer|less detail|one sentence)/],
  [
    'long',
    /\b(too short|too brief|longer|more detail|write more|explain more|in full|not enough|more sentences|detailed)/,
  ],
  [
    'plain',
    /\b(no (bold|list|formatting|marks)|not use (bold|lists?)|not want (a list|bold)|without (formatting|bold|lists?)|too many marks|write it plain|plain (text|sentences|words)|with bold and lists)/,
  ],
  ['format', /\b(list|bold|format)/],
];
const REJECTS = /\b(not what i wanted|do not like|try again|not like that|do it better|not help|wrong|redo|again, but)/;

/** Reads a user's message by its words. Anything that no rule knows is neutral: a judge that cannot tell abstains. */
export function readReaction(text: string): Reaction {
  const words = text.toLowerCase();
  const wish = WISHES.find(([, pattern]) => pattern.test(words))?.[0] ?? null;
  if (wish !== null) return { verdict: 'rejects', wish };
  if (REJECTS.test(words)) return { verdict: 'rejects', wish: null };
  if (THANKS.test(words)) return { verdict: 'approves', wish: null };
  return { verdict: 'neutral', wish: null };
}
