import { StopStrings } from './stop-strings';

function read(
  pieces: readonly string[],
  stops: readonly string[],
  keep = false,
): { shown: string[]; stop: string | null } {
  const watcher = new StopStrings(stops, keep);
  const shown: string[] = [];
  for (const piece of pieces) {
    const { text, stop } = watcher.push(piece);
    shown.push(text);
    if (stop !== null) return { shown, stop };
  }
  shown.push(watcher.end());
  return { shown, stop: null };
}

it.each([
  { pieces: ['a', 'b', 'c'], stops: [], shown: ['a', 'b', 'c', ''], stop: null, why: 'nothing is held back' },
  { pieces: ['ab', 'END', 'x'], stops: ['END'], shown: ['', 'ab'], stop: 'END', why: 'in one piece' },
  { pieces: ['abE', 'N', 'D!'], stops: ['END'], shown: ['a', 'b', ''], stop: 'END', why: 'over three pieces' },
  { pieces: ['abE', 'Nd'], stops: ['END'], shown: ['a', 'bE', 'Nd'], stop: null, why: 'released when it was none' },
  { pieces: ['aXbY'], stops: ['Y', 'X'], shown: ['aXb'], stop: 'Y', why: 'the first of the list, not of the text' },
  { pieces: ['a\n', '\nb'], stops: ['\n\n'], shown: ['a', ''], stop: '\n\n', why: 'characters repeat' },
  { pieces: ['a', 'a', 'ab'], stops: ['aab'], shown: ['', '', 'a'], stop: 'aab', why: 'overlaps what came before' },
  { pieces: ['x', '😀', 'y'], stops: ['zz'], shown: ['', 'x', '😀', 'y'], stop: null, why: 'a pair stays together' },
])('$why', ({ pieces, stops, shown, stop }) => {
  expect(read(pieces, stops)).toEqual({ shown, stop });
});

it('shows the stop string on request, and nothing behind it', () => {
  expect(read(['a', 'ENDx'], ['END'], true)).toEqual({ shown: ['a', 'END'], stop: 'END' });
});

it('never shows a text that a longer look would have cut', () => {
  const text = 'one two three two one';
  for (let cut = 1; cut < text.length; cut++) {
    const { shown, stop } = read([text.slice(0, cut), text.slice(cut)], ['three']);
    expect({ text: shown.join(''), stop }).toEqual({ text: 'one two ', stop: 'three' });
  }
});
