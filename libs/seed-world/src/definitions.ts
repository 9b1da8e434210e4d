/** A word of the little world: its meaning, an example and one more fact. */
export interface Definition {
  readonly meaning: string;
  readonly example: string;
  readonly fact: string;
}

const define = (meaning: string, example: string, fact: string): Definition => ({ meaning, example, fact });

export const definitions: Readonly<Record<string, Definition>> = {
  noun: define(
    'a word that names a person, a place or a thing',
    'For example, dog and city are nouns.',
    'It often stands after a or the.',
  ),
  verb: define(
    'a word that tells what someone does',
    'For example, run and think are verbs.',
    'It changes with the time of the sentence.',
  ),
  adjective: define(
    'a word that describes a thing',
    'For example, red and small are adjectives.',
    'It often stands before a noun.',
  ),
  fraction: define(
    'a number that shows a part of a whole',
    'For example, one half of a cake is a fraction.',
    'It has a top number and a bottom number.',
  ),
  triangle: define(
    'a shape with three sides',
    'For example, a slice of pizza looks like one.',
    'Its angles add up to 180 degrees.',
  ),
  square: define(
    'a shape with four equal sides',
    'For example, a chess board has this shape.',
    'All its angles are right angles.',
  ),
  planet: define(
    'a large round body that moves around a star',
    'For example, Earth and Mars are planets.',
    'It does not make its own light.',
  ),
  volcano: define(
    'a mountain that can throw out hot rock',
    'For example, Etna in Italy is one.',
    'The hot rock under the ground is called magma.',
  ),
  river: define(
    'a long stream of water that flows to the sea',
    'For example, the Nile is very long.',
    'It begins at a place called the source.',
  ),
  mammal: define(
    'an animal that feeds its young with milk',
    'For example, cats and whales belong here.',
    'It has warm blood.',
  ),
  insect: define(
    'a small animal with six legs',
    'For example, ants and bees belong here.',
    'Its body has three parts.',
  ),
  cell: define(
    'the smallest living part of a body',
    'For example, blood is full of them.',
    'It can only be seen with a microscope.',
  ),
  atom: define(
    'a very small piece of matter',
    'For example, gold is made of gold atoms.',
    'It has a nucleus in the middle.',
  ),
  poem: define(
    'a short text with rhythm and images',
    'For example, many songs began this way.',
    'Its lines may rhyme.',
  ),
  map: define(
    'a drawing that shows where things are',
    'For example, a city plan is one.',
    'North is mostly at the top.',
  ),
  glacier: define('a slow river of ice', 'For example, the Alps have many.', 'It can shape a whole valley.'),
};

// {x} the word with its article, {w} the word alone.
export const definitionQuestions = [
  'What is {x}?',
  'Can you explain what {x} is?',
  'What does the word {w} mean?',
  'I have to define {w} for class. What is it?',
  'Tell me what {x} is.',
] as const;

export const definitionExtras = [
  'Try to find one around you today.',
  'It helps to write this down in your own words.',
] as const;

export const definitionHeadings = ['Definition:', 'Answer:'] as const;

/** `an atom`, `a map`. */
export function withArticle(word: string): string {
  return `${/^[aeiou]/.test(word) ? 'an' : 'a'} ${word}`;
}
