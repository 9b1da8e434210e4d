import { textOfBytes, textOfTwice } from './token-text';

describe('the text of a token, from that of two of it', () => {
  it.each<{ twice: string; text: string | null; why: string }>([
    { twice: ' hi hi', text: ' hi', why: 'a decoder that leaves nothing out' },
    { twice: 'hi hi', text: ' hi', why: 'a decoder that leaves out the first space' },
    { twice: 'hihi', text: 'hi', why: 'no space to leave out' },
    { twice: ' ', text: ' ', why: 'a space, of which the first is left out' },
    { twice: '  ', text: ' ', why: 'a space, both there' },
    { twice: '   ', text: '  ', why: 'two spaces, one left out' },
    { twice: '', text: '', why: 'a token that shows nothing' },
    { twice: '<|im_end|><|im_end|>', text: '<|im_end|>', why: 'a mark' },
    { twice: '😀😀', text: '😀', why: 'a character of four bytes' },
    { twice: '\uFFFD\uFFFD', text: null, why: 'a piece of a character' },
    { twice: 'a\uFFFDa\uFFFD', text: null, why: 'a piece at its end' },
    { twice: 'abc', text: null, why: 'anything else is no answer to the question' },
  ])('$twice: $text, $why', ({ twice, text }) => expect(textOfTwice(twice)).toBe(text));
});

it.each<[number[], string | null]>([
  [[0x20, 0x61], ' a'],
  [[0xef, 0xbb, 0xbf], '\uFEFF'],
  [[0xf0, 0x9f], null],
  [[0x80], null],
])('bytes %j are %j', (bytes, text) => expect(textOfBytes(Uint8Array.from(bytes))).toBe(text));
