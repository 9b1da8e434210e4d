import { holdsRedacted, redactPersonalData, redactTexts } from './redaction';

describe('built-in redaction', () => {
  const cases: { readonly reason: string; readonly text: string; readonly redacted?: string }[] = [
    { reason: 'an e-mail address', text: 'write to ann.b+x@mail.example.org.', redacted: 'write to [email].' },
    { reason: 'letters beyond ASCII', text: 'jürgen@bücher.example', redacted: '[email]' },
    { reason: 'an @ alone', text: 'npm i @scope/name@1.2.3, @you' },
    { reason: 'a phone number with its country', text: 'call +49 170 1234567 now', redacted: 'call [phone] now' },
    { reason: 'digits without a gap', text: '+14155552671', redacted: '[phone]' },
    { reason: 'area code in brackets', text: '(415) 555-2671', redacted: '[phone]' },
    { reason: 'dashes', text: '415-555-2671', redacted: '[phone]' },
    { reason: 'a date', text: 'on 2026-11-30 and 30.11.2026' },
    { reason: 'a time', text: '2026-11-30 20:15:00 and 2026-11-30T20:15:00.123456Z' },
    { reason: 'a version and an address', text: 'v1.22.333.4444 at 192.168.10.20' },
    { reason: 'a plain number', text: 'it took 12345678 steps, 3.14159265' },
    { reason: 'a card', text: 'pay with 4111 1111 1111 1111!', redacted: 'pay with [card]!' },
    { reason: 'a card without gaps', text: '5555555555554444', redacted: '[card]' },
    { reason: 'a wrong check digit', text: '4111111111111112' },
    { reason: 'an API key', text: 'key=sk-proj-abcdefghijklmnop1234', redacted: 'key=[key]' },
    { reason: 'a cloud key', text: 'AKIAIOSFODNN7EXAMPLE', redacted: '[key]' },
    { reason: 'a token of a code host', text: `ghp_${'a'.repeat(36)}`, redacted: '[key]' },
    { reason: 'a JSON web token', text: 'eyJhbGciOiJI.eyJzdWIiOiIx.SflKxwRJSMeKKF2', redacted: '[key]' },
    {
      reason: 'a private key',
      text: 'a\n-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----\nb',
      redacted: 'a\n[key]\nb',
    },
    { reason: 'a private key without its end', text: '-----BEGIN PRIVATE KEY-----\nMIIE', redacted: '[key]' },
    { reason: 'plain text', text: 'Why is the sky blue?' },
  ];
  it.each(cases)('$reason', ({ text, redacted }) => expect(redactPersonalData(text)).toBe(redacted ?? text));

  it('leaves nothing more to find', () => {
    for (const { text } of cases) {
      const once = redactPersonalData(text);
      expect(redactPersonalData(once)).toBe(once);
    }
  });

  it('walks long texts without pattern blow-up', () => {
    for (const piece of ['1', '1 ', 'a.', 'a@', '-', '(1) '])
      expect(redactPersonalData(piece.repeat(50_000)).length).toBeGreaterThan(0);
  });
});

it('redacts every text that goes to the judge', () => {
  const message = (text: string) => ({ role: 'user' as const, text, toolName: null });
  const texts = { conversation: [message('a@b.example')], answer: 'c@d.example', nextState: [message('e@f.example')] };
  expect(redactTexts(texts, redactPersonalData)).toEqual({
    conversation: [message('[email]')],
    answer: '[email]',
    nextState: [message('[email]')],
  });
});

it.each([
  { reason: 'a text', value: { content: 'a@b.example' }, holds: true },
  { reason: 'a part', value: [{ type: 'text', text: 'a@b.example' }], holds: true },
  {
    reason: 'tool arguments',
    value: { tool_calls: [{ function: { arguments: '{"to":"a@b.example"}' } }] },
    holds: true,
  },
  { reason: 'embedded media', value: { url: 'data:text/plain,a@b.example' }, holds: false },
  { reason: 'nothing', value: { content: 'hello', n: 4111111111111111 }, holds: false },
])('finds it in $reason: $holds', ({ value, holds }) => expect(holdsRedacted(value, redactPersonalData)).toBe(holds));
