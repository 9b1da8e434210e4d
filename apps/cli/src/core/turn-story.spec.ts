import { painter } from '@hindcast/platform/terminal';
import { encodeNumbers } from '@hindcast/contracts';
import { shownTurn } from '../testing/shown';
import { storyOf } from './turn-story';
import { tokensOf } from './turn-tokens';

const colours = painter(true, {});
const frame = { now: 61_000, painter: colours };

it('shades every token of the answer by its advantage, the largest most', () => {
  const story = storyOf(shownTurn, frame).join('\n');
  const { shade } = colours;
  expect(story).toContain(`  ${shade('A', -0.8)}${shade(' list', 1)}${shade('⟨9⟩', 0)}`);
});

it('shows the advantages that a turn would have, before it is trained', () => {
  const expected = { advantages: encodeNumbers([2, -1, 0]), wRl: 1, wOpd: 1 };
  const turn = { ...shownTurn, detail: { ...shownTurn.detail, trained: null }, expected };
  expect(tokensOf(turn)!.map(({ advantage, ratio }) => [advantage, ratio])).toEqual([
    [2, null],
    [-1, null],
    [0, null],
  ]);
  expect(storyOf(turn, frame).join('\n')).toContain('not yet; with the weights of now');
});

it('a line end in a token has no colour', () => {
  const turn = { ...shownTurn, texts: ['A\n', 'b', 'c'] };
  expect(storyOf(turn, frame).join('\n')).toContain(`${colours.shade('A', -0.8)}\n  ${colours.shade('b', 1)}`);
});

it('what others wrote does not steer the terminal', () => {
  const detail = { ...shownTurn.detail, answer: '\u001b]0;title\u0007\u009b2J', tokens: null };
  const story = storyOf({ ...shownTurn, detail }, { ...frame, painter: painter(false, {}) }).join('\n');
  // eslint-disable-next-line no-control-regex
  expect(story).not.toMatch(/[\u001b\u0007\u009b]/);
});

it('the clip acts where the ratio has gone as far as the advantage wants', () => {
  expect(tokensOf(shownTurn)!.map(({ isClipped, ratio }) => [isClipped, ratio!.toFixed(2)])).toEqual([
    [true, '0.67'],
    [true, '1.49'],
    [false, '1.00'],
  ]);
});
