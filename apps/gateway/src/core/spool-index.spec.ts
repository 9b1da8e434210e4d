import { SpoolIndex, type SpoolEntry } from './spool-index';

const entry = (
  bytes: number,
  isClosing = false,
  touched: string[] = [],
  captureOf: string | null = null,
): SpoolEntry => ({
  touched,
  bytes,
  isClosing,
  captureOf,
});

describe('SpoolIndex', () => {
  const cases: {
    readonly reason: string;
    readonly entries: Record<string, SpoolEntry>;
    readonly held?: string[];
    readonly dropped: string | null;
  }[] = [
    { reason: 'what fits is kept', entries: { a: entry(50), b: entry(50) }, dropped: null },
    { reason: 'the oldest goes first', entries: { b: entry(60), a: entry(60) }, dropped: 'a' },
    { reason: 'a closing outlives what it can', entries: { a: entry(60, true), b: entry(60) }, dropped: 'b' },
    { reason: 'of closings alone the oldest', entries: { a: entry(60, true), b: entry(60, true) }, dropped: 'a' },
    { reason: 'what is worked on stays', entries: { a: entry(60), b: entry(60) }, held: ['a'], dropped: 'b' },
    { reason: 'everything is worked on', entries: { a: entry(60), b: entry(60) }, held: ['a', 'b'], dropped: null },
  ];
  it.each(cases)('$reason', ({ entries, held = [], dropped }) => {
    const index = new SpoolIndex(100);
    for (const [name, value] of Object.entries(entries)) index.add(name, value);
    for (const name of held) index.hold(name);
    expect(index.toDrop()).toBe(dropped);
  });

  it('knows what waits for a key until the last one is gone', () => {
    const index = new SpoolIndex(100);
    index.add('a', entry(1, false, ['key', 'session']));
    index.add('b', entry(1, false, ['key']));
    index.delete('a');
    expect(index.touchesAny(['key'])).toBe(true);
    expect(index.touchesAny(['session'])).toBe(false);
    index.delete('b');
    expect(index.touchesAny(['key', 'session'])).toBe(false);
  });

  it('knows which operation carries a turn’s capture, until it is gone or carries it no more', () => {
    const index = new SpoolIndex(100);
    index.add('a', entry(1, false, [], 'turn-a'));
    index.add('b', entry(1, false, [], 'turn-b'));
    expect([index.carrierOf('turn-a'), index.carrierOf('turn-b'), index.carrierOf('turn-c')]).toEqual(['a', 'b', null]);
    index.add('a', entry(1, true));
    index.delete('b');
    expect([index.carrierOf('turn-a'), index.carrierOf('turn-b')]).toEqual([null, null]);
  });

  it('counts the bytes of a replaced entry once', () => {
    const index = new SpoolIndex(100);
    index.add('a', entry(90, false, ['key']));
    index.add('a', entry(10, true));
    expect(index.bytes).toBe(10);
    expect(index.touchesAny(['key'])).toBe(false);
  });

  it.each([
    { reason: 'in order of age', names: ['a', 'b'], found: ['a', 'b'] },
    { reason: 'found out of order', names: ['b', 'a'], found: ['a', 'b'] },
    { reason: 'postponed, with what touches the same', names: ['a', 'b', 'c'], postponed: ['a'], found: ['b'] },
    { reason: 'being written, with what touches the same', names: ['a', 'b', 'c'], held: ['a'], found: ['b'] },
    { reason: 'blocked by one that is itself blocked', names: ['a', 'c', 'd'], postponed: ['a'], found: [] },
  ])('$reason: $found', ({ names, postponed = [], held = [], found }) => {
    const index = new SpoolIndex(100);
    const touched: Record<string, string[]> = { a: ['one'], b: ['other'], c: ['one', 'third'], d: ['third'] };
    for (const name of names) index.add(name, entry(1, false, touched[name]));
    for (const name of held) index.hold(name);
    expect(index.oldest(9, (name) => (postponed as string[]).includes(name))).toEqual(found);
  });

  it('a replaced entry keeps its place', () => {
    const index = new SpoolIndex(100);
    for (const name of ['a', 'b']) index.add(name, entry(1));
    index.add('a', entry(2, true));
    expect(index.oldest(9)).toEqual(['a', 'b']);
  });
});
