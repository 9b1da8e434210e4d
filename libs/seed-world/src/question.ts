import { advice, adviceQuestions, type Tip } from './advice';
import { type ArithmeticFacts, arithmetic, calculate, fill, names, objects, type Operation } from './arithmetic';
import { type Definition, definitionQuestions, definitions, withArticle } from './definitions';
import { hashText, random, type Random } from './random';

/** A question of the little world, with what is needed to answer it and to check an answer. */
export type Question =
  | {
      readonly topic: 'arithmetic';
      readonly text: string;
      readonly operation: Operation;
      readonly facts: ArithmeticFacts;
    }
  | { readonly topic: 'definition'; readonly text: string; readonly word: string; readonly definition: Definition }
  | { readonly topic: 'advice'; readonly text: string; readonly goal: string; readonly tips: readonly Tip[] };

export type Topic = Question['topic'];

/** One question in this many is held out, decided by its text alone. */
const heldOutShare = 5;

/**
 * A question that may be trained on: half arithmetic, a quarter definitions, a quarter advice.
 * Never one that `heldOutQuestions` returns.
 */
export function question(rng: Random): Question {
  return drawUntil(rng, (drawn) => !isHeldOut(drawn));
}

/**
 * Questions that `question` never returns, in the same mix of topics: neither pre-training nor a simulated user asks them.
 * The numbers, names and wordings are new, the words, goals and templates are not. Few definitions and tips can be held
 * out, so a long list repeats them.
 */
export function heldOutQuestions(seed: number | string, count: number): Question[] {
  const rng = random(`held-out questions/${seed}`);
  return Array.from({ length: count }, () => drawUntil(rng, isHeldOut));
}

/** Whether a question belongs to the held-out set. */
export function isHeldOut(asked: Question): boolean {
  return hashText(asked.text) % heldOutShare === 0;
}

// The topic is drawn once, so that the mix does not depend on how many texts of a topic are held out.
function drawUntil(rng: Random, accepted: (drawn: Question) => boolean): Question {
  const topic = rng.weighted(['arithmetic', 'definition', 'advice'] as const, [2, 1, 1]);
  for (;;) {
    const drawn = draw(rng, topic);
    if (accepted(drawn)) return drawn;
  }
}

function draw(rng: Random, topic: Topic): Question {
  if (topic === 'arithmetic') return drawArithmetic(rng);
  if (topic === 'definition') {
    const [word, definition] = rng.pick(Object.entries(definitions));
    const text = rng.pick(definitionQuestions).replace('{x}', withArticle(word)).replace('{w}', word);
    return { topic, text, word, definition };
  }
  const [goal, tips] = rng.pick(Object.entries(advice));
  return { topic, text: rng.pick(adviceQuestions).replace('{t}', goal), goal, tips };
}

function drawArithmetic(rng: Random): Question {
  const operation = rng.pick(['+', '-', '*'] as const);
  const [a, b] = drawOperands(rng, operation);
  const facts = { name: rng.pick(names), object: rng.pick(objects), a, b, result: calculate(a, operation, b) };
  return { topic: 'arithmetic', text: fill(rng.pick(arithmetic[operation].questions), facts), operation, facts };
}

// Small enough that a model of 0.7 million parameters learns every result.
function drawOperands(rng: Random, operation: Operation): [number, number] {
  if (operation === '+') return [rng.integer(2, 12), rng.integer(2, 12)];
  if (operation === '*') return [rng.integer(2, 6), rng.integer(2, 6)];
  const a = rng.integer(4, 16);
  return [a, rng.integer(2, a - 2)];
}
