import { sessionFields, type SkipReason } from './session-fields';

describe('consent to be trained on', () => {
  const rows: { why: string; header?: string; body?: object; skipped: SkipReason | null }[] = [
    { why: 'nothing said', skipped: null },
    { why: 'an empty header says nothing', header: '', body: { train: null }, skipped: null },
    ...['1', 'true', 'YES', 'on'].map((header) => ({ why: `a yes, ${header}`, header, skipped: null })),
    ...['0', 'false', 'no', 'off', ' False '].map((header) => ({
      why: `a no, ${header}`,
      header,
      skipped: 'no-consent' as const,
    })),
    { why: 'a word of no known meaning is no yes', header: 'maybe', skipped: 'no-consent' },
    { why: 'the body says no', body: { train: false }, skipped: 'no-consent' },
    { why: 'the body says no in words', body: { train: 'no' }, skipped: 'no-consent' },
    { why: 'the body says 0', body: { train: 0 }, skipped: 'no-consent' },
    { why: 'the body says yes', body: { train: true }, skipped: null },
    { why: 'an object is no yes', body: { train: {} }, skipped: 'no-consent' },
    { why: 'one no outweighs a yes', header: 'yes', body: { train: false }, skipped: 'no-consent' },
    { why: 'the other no outweighs a yes', header: '0', body: { train: true }, skipped: 'no-consent' },
    { why: 'a no outweighs a side request', header: '0', body: { turn_type: 'side' }, skipped: 'no-consent' },
    { why: 'a yes does not make a side request a main one', header: '1', body: { turn_type: 'side' }, skipped: 'side' },
  ];
  it.each(rows)('$why', ({ header, body = {}, skipped }) => {
    const headers = header === undefined ? {} : { 'x-hindcast-train': header };
    expect(sessionFields(headers, body as Record<string, unknown>, 'main').skipped).toBe(skipped);
  });
});
