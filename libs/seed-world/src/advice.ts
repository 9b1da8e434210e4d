/** A tip: the phrase that a formatted answer makes bold, and the rest of its sentence. */
export interface Tip {
  readonly phrase: string;
  readonly rest: string;
}

const tips = (...pairs: readonly (readonly [string, string])[]): readonly Tip[] =>
  pairs.map(([phrase, rest]) => ({ phrase, rest }));

export const advice: Readonly<Record<string, readonly Tip[]>> = {
  'sleep better': tips(
    ['Go to bed early', 'so your body can rest'],
    ['Turn off the screen', 'one hour before'],
    ['Keep the room dark', 'and quiet'],
    ['Avoid sugar', 'in the evening'],
  ),
  'learn new words': tips(
    ['Read every day', 'even if only one page'],
    ['Write the words down', 'in a small book'],
    ['Use them in a sentence', 'of your own'],
    ['Repeat them', 'after two days'],
  ),
  'prepare for a test': tips(
    ['Start a week before', 'and not the night before'],
    ['Make a plan', 'with small parts'],
    ['Solve old tasks', 'to see what is hard'],
    ['Explain it to a friend', 'in simple words'],
  ),
  'save money': tips(
    ['Write down what you spend', 'for one month'],
    ['Wait one day', 'before you buy something'],
    ['Put coins in a jar', 'each week'],
    ['Borrow books', 'from the library'],
  ),
  'eat more healthy': tips(
    ['Eat fruit', 'with each meal'],
    ['Drink water', 'and not soda'],
    ['Cook at home', 'with a friend'],
    ['Take small plates', 'so you eat less'],
  ),
  'stay calm': tips(
    ['Breathe slowly', 'and count to ten'],
    ['Take a walk', 'in fresh air'],
    ['Talk to someone', 'you trust'],
    ['Write your thoughts', 'on paper'],
  ),
  'make new friends': tips(
    ['Say hello', 'with a smile'],
    ['Join a club', 'that you like'],
    ['Ask questions', 'and listen well'],
    ['Share your lunch', 'from time to time'],
  ),
  'write a good essay': tips(
    ['Make an outline', 'before you start'],
    ['Give one idea', 'in each paragraph'],
    ['Read it aloud', 'to hear mistakes'],
    ['Ask a friend', 'to read it'],
  ),
  'train for a run': tips(
    ['Begin slowly', 'with short runs'],
    ['Rest one day', 'after each run'],
    ['Wear good shoes', 'that fit you'],
    ['Drink water', 'before you go'],
  ),
  'keep my room tidy': tips(
    ['Give each thing a place', 'and use it'],
    ['Clean for ten minutes', 'each day'],
    ['Give old toys away', 'to other children'],
    ['Make your bed', 'in the morning'],
  ),
};

// {t} the goal.
export const adviceQuestions = [
  'How can I {t}?',
  'Do you have a tip? I want to {t}.',
  'What should I do to {t}?',
  'Please help me to {t}.',
  'I would like to {t}. What helps?',
] as const;

export const adviceExtras = ['Small steps are enough at first.', 'After some weeks it becomes a habit.'] as const;

export const adviceHeadings = ['Tips:', 'Advice:'] as const;
