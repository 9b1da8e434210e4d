import { correct, wellFormed } from './form';
import type { Question } from './question';

const formCases: { text: string; ended?: boolean; expected: boolean; why: string }[] = [
  { text: 'The answer is 7 apples.', expected: true, why: 'one known sentence' },
  { text: 'The answer is 12 stamps.', expected: true, why: 'other numbers and objects' },
  { text: 'Sure. So **\\boxed{4}** cards remain.', expected: true, why: 'marks around a number' },
  { text: '**Answer:** An **atom** is a very small piece of matter.', expected: true, why: 'a heading' },
  {
    text: 'Great job so far!\n1. **Eat fruit** with each meal.\n2. **Drink water** and not soda.',
    expected: true,
    why: 'a list',
  },
  { text: '1. Borrow books from the library.', expected: true, why: 'a tip that names an object' },
  { text: '', expected: false, why: 'empty' },
  { text: 'The answer is 7 apples.', ended: false, expected: false, why: 'cut off' },
  { text: 'The answer is 7 apples. The answer is 7 apples.', expected: false, why: 'twice the same' },
  { text: 'The answer is 7 apples. The answer is 8 cards.', expected: false, why: 'twice the same but for its words' },
  { text: 'The answer is **7 apples.', expected: false, why: 'a bold mark left open' },
  { text: 'The answer is apples.', expected: false, why: 'a word is missing' },
  { text: 'Eat fruit and not soda.', expected: false, why: 'two tips mixed' },
  { text: 'I am a large language model.', expected: false, why: 'not of this world' },
  { text: 'The answer is 7 apples. Then', expected: false, why: 'a broken last sentence' },
  { text: '**Answer:**', expected: false, why: 'a heading alone' },
];

describe('wellFormed', () => {
  it.each(formCases)('$expected: $why', ({ text, ended = true, expected }) => {
    expect(wellFormed(text, ended)).toBe(expected);
  });
});

const sum: Question = {
  topic: 'arithmetic',
  text: 'What is 3 + 4? Tom counts cups to find out.',
  operation: '+',
  facts: { name: 'Tom', object: 'cups', a: 3, b: 4, result: 7 },
};
const word: Question = {
  topic: 'definition',
  text: 'What is a cell?',
  word: 'cell',
  definition: { meaning: 'the smallest living part of a body', example: '', fact: '' },
};
const goal: Question = {
  topic: 'advice',
  text: '',
  goal: 'stay calm',
  tips: [{ phrase: 'Take a walk', rest: 'in fresh air' }],
};

const correctCases: { asked: Question; text: string; expected: boolean; why: string }[] = [
  { asked: sum, text: 'So there are 7 cups.', expected: true, why: 'the result' },
  {
    asked: sum,
    text: 'We add the numbers: 3 + 4 = 7. In total that makes **\\boxed{7}** cups.',
    expected: true,
    why: 'with marks',
  },
  {
    asked: sum,
    text: '1. Tom starts with 3 cups.\n2. The answer is **7** cups.\n3. You can also count on from 3 until you reach 7.',
    expected: true,
    why: 'as a list',
  },
  { asked: sum, text: 'So there are 8 cups.', expected: false, why: 'a wrong result' },
  { asked: sum, text: 'We add the numbers: 3 + 4 = 8. So there are 7 cups.', expected: false, why: 'a wrong equation' },
  { asked: sum, text: 'We add the numbers: 3 + 4 = 7.', expected: false, why: 'no result named' },
  { asked: sum, text: '', expected: false, why: 'nothing' },
  { asked: word, text: 'A **cell** is the smallest living part of a body.', expected: true, why: 'the meaning' },
  { asked: word, text: 'A cell is a slow river of ice.', expected: false, why: 'the meaning of another word' },
  { asked: goal, text: '1. **Take a walk** in fresh air.', expected: true, why: 'a fitting tip' },
  { asked: goal, text: 'Drink water and not soda.', expected: false, why: 'a tip for another goal' },
];

describe('correct', () => {
  it.each(correctCases)('$expected: $why', ({ asked, text, expected }) => {
    expect(correct(asked, text)).toBe(expected);
  });
});
