import * as fc from 'fast-check';
import { pinRows } from './pinned-rows';

const row = (id: string, state = 'open') => ({ id, state });
const pin = (pinned: ReturnType<typeof row>[], newest: ReturnType<typeof row>[]) =>
  pinRows(pinned, newest, ({ id }) => id);

describe('a pinned list', () => {
  it('shows what came first at once', () => expect(pin([], [row('a')])).toEqual({ rows: [row('a')], fresh: 0 }));

  it('keeps its rows in their places, says what is new of each, and counts those above', () =>
    expect(pin([row('b'), row('a')], [row('d'), row('c'), row('b', 'trained')])).toEqual({
      rows: [row('b', 'trained'), row('a')],
      fresh: 2,
    }));

  it('counts a whole page of new rows', () => expect(pin([row('a')], [row('c'), row('b')]).fresh).toBe(2));

  it('never loses or moves a row', () =>
    fc.assert(
      fc.property(fc.uniqueArray(fc.string()), fc.uniqueArray(fc.string()), (before, after) => {
        fc.pre(before.length > 0);
        const { rows } = pin(
          before.map((id) => row(id)),
          after.map((id) => row(id, 'new')),
        );
        expect(rows.map(({ id }) => id)).toEqual(before);
      }),
    ));
});
