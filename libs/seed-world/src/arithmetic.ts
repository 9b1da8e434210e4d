export type Operation = '+' | '-' | '*';

/** What an arithmetic question is about. `result` is the right answer. */
export interface ArithmeticFacts {
  readonly name: string;
  readonly object: string;
  readonly a: number;
  readonly b: number;
  readonly result: number;
}

export const names = [
  'Tom',
  'Anna',
  'Ben',
  'Lucy',
  'Max',
  'Emma',
  'Sam',
  'Lily',
  'Jack',
  'Nora',
  'Leo',
  'Mia',
] as const;

export const objects = [
  ...['apples', 'books', 'pencils', 'cards', 'coins', 'shells', 'stickers'],
  ...['marbles', 'cookies', 'stamps', 'balloons', 'cups', 'flowers', 'stones'],
] as const;

interface ArithmeticWording {
  readonly questions: readonly string[];
  /** Three sentences in order; the last one is the equation. */
  readonly steps: readonly [string, string, string];
  readonly results: readonly string[];
  /** What only a long answer adds. */
  readonly extras: readonly string[];
}

// {n} name, {o} objects, {a} and {b} operands, {r} result, {R} result as the style writes it.
export const arithmetic: Readonly<Record<Operation, ArithmeticWording>> = {
  '+': {
    questions: [
      '{n} has {a} {o}. {n} buys {b} more. How many {o} does {n} have now?',
      '{n} has {a} {o} and finds {b} more. How many {o} are there in total?',
      'There are {a} {o} in a box. {n} puts {b} more in. How many {o} are in the box?',
      'If {n} collects {a} {o} today and {b} {o} tomorrow, how many {o} is that?',
      'What is {a} + {b}? {n} counts {o} to find out.',
    ],
    steps: ['{n} starts with {a} {o}.', 'Then {b} more come in.', 'We add the numbers: {a} + {b} = {r}.'],
    results: ['So there are {R} {o}.', 'The answer is {R} {o}.', 'In total that makes {R} {o}.'],
    extras: [
      'To check, take {b} away from {r} and you get {a} again.',
      'You can also count on from {a} until you reach {r}.',
      'Adding means putting two groups together.',
      'Drawing the {o} on paper can help too.',
    ],
  },
  '-': {
    questions: [
      '{n} has {a} {o}. {n} gives {b} away. How many {o} are left?',
      '{n} had {a} {o} but lost {b} of them. How many {o} does {n} have now?',
      'There are {a} {o} on a table. {n} takes {b}. How many {o} stay on the table?',
      '{n} needs {a} {o} and already has {b}. How many {o} are missing?',
      'What is {a} - {b}? {n} counts {o} to find out.',
    ],
    steps: ['{n} starts with {a} {o}.', 'Then {b} of them go away.', 'We subtract the numbers: {a} - {b} = {r}.'],
    results: ['So {R} {o} remain.', 'The answer is {R} {o}.', 'That leaves {R} {o}.'],
    extras: [
      'To check, add {b} to {r} and you get {a} again.',
      'You can also count back from {a} until you reach {r}.',
      'Subtracting means taking one part away.',
      'Drawing the {o} on paper can help too.',
    ],
  },
  '*': {
    questions: [
      '{n} has {a} bags with {b} {o} each. How many {o} is that?',
      '{n} buys {a} boxes. Each box holds {b} {o}. How many {o} does {n} have?',
      'There are {a} rows of {b} {o}. How many {o} does {n} see?',
      'What is {a} * {b}? {n} counts {o} to find out.',
    ],
    steps: ['There are {a} groups of {o}.', 'Each group has {b}.', 'We multiply the numbers: {a} * {b} = {r}.'],
    results: ['So there are {R} {o}.', 'The answer is {R} {o}.', 'In total that makes {R} {o}.'],
    extras: [
      'To check, divide {r} by {a} and you get {b} again.',
      'You can also add {b} again and again, {a} times.',
      'Multiplying is a fast way to add equal groups.',
      'Drawing the {o} on paper can help too.',
    ],
  },
};

export const arithmeticHeadings = ['Answer:', 'Solution:'] as const;

/** Fills a wording's placeholders. `shownResult` is the result with the marks of the style around it. */
export function fill(wording: string, facts: ArithmeticFacts, shownResult = String(facts.result)): string {
  const values: Record<string, string> = {
    n: facts.name,
    o: facts.object,
    a: String(facts.a),
    b: String(facts.b),
    r: String(facts.result),
    R: shownResult,
  };
  return wording.replace(/\{(\w)\}/g, (whole, key: string) => values[key] ?? whole);
}

/** The value of `a operation b`. */
export function calculate(a: number, operation: Operation, b: number): number {
  if (operation === '+') return a + b;
  return operation === '-' ? a - b : a * b;
}
