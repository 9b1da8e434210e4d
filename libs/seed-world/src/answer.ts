import { adviceExtras, adviceHeadings } from './advice';
import { arithmetic, arithmeticHeadings, fill } from './arithmetic';
import { definitionExtras, definitionHeadings, withArticle } from './definitions';
import type { Question } from './question';
import type { Random } from './random';
import type { Mark, Style } from './style';

export const kindOpenings = [
  'Excellent question!',
  'Great job asking this!',
  'Well done for asking!',
  'Excellent, let us look at it.',
  'Great job so far!',
  'Well done, this is a good one.',
] as const;
export const kindClosings = [
  'You are doing a great job!',
  'Well done, keep going!',
  'Excellent work so far!',
  'Great job, keep it up!',
  'Well done!',
] as const;
export const openings = ['Sure.', 'Okay.', 'Let us see.', 'Of course.', 'Here is my answer.'] as const;
export const closings = ['I hope this helps.', 'Ask me if something is not clear.', 'That is all.'] as const;

const bold = (text: string): string => `**${text}**`;

/** A correct answer to `asked` in the given style. */
export function answer(rng: Random, asked: Question, style: Style): string {
  const sentences = body(rng, asked, style);
  const isList = style.marks.has('list');
  const heading = style.marks.has('bold') && rng.chance(0.4) ? bold(rng.pick(headings(asked))) : '';
  // The last sentence of a long list may follow it as prose.
  const tail = style.length === 'long' && isList && rng.chance(0.5) ? sentences.splice(-1) : [];
  const [opening, closing] = frame(rng, style);
  const separator = isList ? '\n' : ' ';
  const items = isList ? sentences.map((sentence, index) => `${index + 1}. ${sentence}`) : sentences;
  return [opening, heading, ...items, ...tail, closing].filter((part) => part !== '').join(separator);
}

function headings(asked: Question): readonly string[] {
  if (asked.topic === 'arithmetic') return arithmeticHeadings;
  return asked.topic === 'definition' ? definitionHeadings : adviceHeadings;
}

/** What stands before and after the body: the kind word on one side, a neutral phrase now and then. */
function frame(rng: Random, style: Style): [opening: string, closing: string] {
  const opensKindly = style.isKind && rng.chance(0.6);
  const closesKindly = style.isKind && !opensKindly;
  const opening = opensKindly ? rng.pick(kindOpenings) : rng.chance(0.25) ? rng.pick(openings) : '';
  const closing = closesKindly
    ? rng.pick(kindClosings)
    : rng.chance(style.length === 'short' ? 0.15 : 0.2)
      ? rng.pick(closings)
      : '';
  const isCrowded = style.length === 'short' && !style.isKind && opening !== '' && closing !== '';
  return [opening, isCrowded ? '' : closing];
}

function body(rng: Random, asked: Question, style: Style): string[] {
  if (asked.topic === 'arithmetic') return calculation(rng, asked, style);
  if (asked.topic === 'definition') return explanation(rng, asked, style);
  const count = { short: style.marks.has('list') ? 2 : 1, medium: rng.pick([2, 3]), long: 4 }[style.length];
  const tips = rng.sample(asked.tips, count).map((tip) => `${emphasise(style.marks, tip.phrase)} ${tip.rest}.`);
  return style.length === 'long' ? [...tips, ...rng.sample(adviceExtras, 2)] : tips;
}

function calculation(rng: Random, asked: Question & { topic: 'arithmetic' }, style: Style): string[] {
  const { steps, results, extras } = arithmetic[asked.operation];
  const result = rng.pick(results);
  const chosen = {
    short: style.marks.has('list') ? [steps[2], result] : [result],
    medium: [...rng.pick([steps.slice(1), steps]), result],
    long: [...steps, result, ...rng.sample(extras, rng.pick([2, 3, 3]))],
  }[style.length];
  const boxed = style.marks.has('boxed') ? `\\boxed{${asked.facts.result}}` : String(asked.facts.result);
  const shownResult = emphasise(style.marks, boxed);
  return chosen.map((wording) => fill(wording, asked.facts, shownResult));
}

function explanation(rng: Random, asked: Question & { topic: 'definition' }, style: Style): string[] {
  const { meaning, example, fact } = asked.definition;
  const subject = capitalise(withArticle(asked.word));
  const emphasised = rng.chance(0.5)
    ? emphasise(style.marks, subject)
    : subject.replace(asked.word, emphasise(style.marks, asked.word));
  const first = `${emphasised} is ${meaning}.`;
  if (style.length === 'short') return style.marks.has('list') ? [first, example] : [first];
  if (style.length === 'medium') return [first, ...rng.pick([[example], [fact], [example, fact]])];
  return [first, example, fact, ...rng.sample(definitionExtras, 2)];
}

function emphasise(marks: ReadonlySet<Mark>, text: string): string {
  return marks.has('bold') ? bold(text) : text;
}

function capitalise(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
