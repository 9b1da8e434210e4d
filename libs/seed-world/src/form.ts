import { advice, adviceExtras, adviceHeadings } from './advice';
import { closings, kindClosings, kindOpenings, openings } from './answer';
import { arithmetic, arithmeticHeadings, calculate, names, objects, type Operation } from './arithmetic';
import { definitionExtras, definitionHeadings, definitions, withArticle } from './definitions';
import type { Question } from './question';

/**
 * Whether an answer is made of whole sentences of the little world: each is one that an answer can hold (whatever its
 * names, objects and numbers), none stands twice, bold marks come in pairs, and the model ended it by itself.
 */
export function wellFormed(text: string, ended: boolean): boolean {
  const found = sentences(text);
  const hasPairedMarks = (text.split('**').length - 1) % 2 === 0;
  return (
    ended &&
    hasPairedMarks &&
    found.length > 0 &&
    new Set(found).size === found.length &&
    found.every((sentence) => knownSentences().has(sentence))
  );
}

/**
 * Whether an answer is right. Arithmetic: the result named last is right and every equation holds. Definitions: the
 * word's meaning is given. Advice: at least one tip fits the goal.
 */
export function correct(asked: Question, text: string): boolean {
  const unmarked = withoutMarks(text);
  if (asked.topic === 'definition') return unmarked.includes(asked.definition.meaning);
  if (asked.topic === 'advice') return asked.tips.some((tip) => unmarked.includes(tip.phrase));
  const named = [...unmarked.matchAll(/(?:there are|The answer is|makes|leaves|So) (\d+)/g)].at(-1);
  const equations = [...unmarked.matchAll(/(\d+) ([-+*]) (\d+) = (\d+)/g)];
  return (
    Number(named?.[1]) === asked.facts.result &&
    equations.every(
      ([, a, operation, b, result]) => calculate(Number(a), operation as Operation, Number(b)) === Number(result),
    )
  );
}

function withoutMarks(text: string): string {
  return text
    .replaceAll('**', '')
    .replace(/\\boxed\{(\d+)\}/g, '$1')
    .replace(/^\s*\d+\. /gm, '');
}

const namePattern = new RegExp(`\\b(${names.join('|')})\\b`, 'g');
const objectPattern = new RegExp(`\\b(${objects.join('|')})\\b`, 'g');
const headingPattern = new RegExp(
  [...arithmeticHeadings, ...definitionHeadings, ...adviceHeadings].map((heading) => `\\b${heading}`).join('|'),
  'g',
);

function sentences(text: string): string[] {
  return mask(withoutMarks(text).replace(headingPattern, ''))
    .trim()
    .split(/(?<=[.!?])\s+/)
    .filter((sentence) => sentence !== '');
}

/** A sentence with its names, objects and numbers made equal. */
function mask(text: string): string {
  return text.replace(namePattern, 'N').replace(objectPattern, 'O').replace(/\d+/g, '#');
}

let known: ReadonlySet<string> | undefined;

function knownSentences(): ReadonlySet<string> {
  known ??= new Set(
    [
      ...Object.values(arithmetic)
        .flatMap(({ steps, results, extras }) => [...steps, ...results, ...extras])
        .map(maskWording),
      ...Object.entries(definitions).flatMap(([word, { meaning, example, fact }]) => [
        `${withArticle(word).replace(/^a/, 'A')} is ${meaning}.`,
        example,
        fact,
      ]),
      ...Object.values(advice).flatMap((tips) => tips.map((tip) => `${tip.phrase} ${tip.rest}.`)),
      ...[definitionExtras, adviceExtras, openings, closings, kindOpenings, kindClosings].flat(),
    ].map(mask),
  );
  return known;
}

function maskWording(wording: string): string {
  return wording
    .replaceAll('{n}', 'N')
    .replaceAll('{o}', 'O')
    .replace(/\{\w\}/g, '#');
}
