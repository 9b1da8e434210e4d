import fc from 'fast-check';
import { LONGEST_SHOWN, isSecretName, shownText, textOf, withoutSecrets } from './shown-value';

it.each([
  ['API_KEYS', true],
  ['ADMIN_API_KEYS', true],
  ['POLICY_API_KEY', true],
  ['SESSION_SECRET', true],
  ['NATS_PASSWORD', true],
  ['HF_TOKEN', true],
  ['API_KEYS_FILE', false],
  ['KEY_TOKENS_PER_MINUTE', false],
  ['JUDGE_MAX_TOKENS', false],
  ['TOKEN_BUDGET', false],
])('the name %s holds a secret: %s', (name, isSecret) => expect(isSecretName(name)).toBe(isSecret));

it.each([
  [undefined, null],
  [null, null],
  ['', ''],
  [true, '1'],
  [false, '0'],
  [1e-5, '0.00001'],
  [['a', 'b'], 'a,b'],
  [[], null],
  [{ name: 'a' }, '{"name":"a"}'],
])('%j is shown as %j', (value: unknown, text) => expect(textOf(value)).toBe(text));

it('hides what stands before the @ of a URL, and cuts what is long', () => {
  expect(shownText('at http://me:hu@sh@host/v1, tls://u:p@b', [])).toBe('at http://***@host/v1, tls://***@b');
  expect(shownText('x'.repeat(LONGEST_SHOWN + 1), [])).toBe(`${'x'.repeat(LONGEST_SHOWN)}…`);
});

it('leaves no known secret, and all else as it is', () => {
  const secret = fc.string({ minLength: 4, unit: fc.constantFrom(...'ab@%/: ') });
  fc.assert(
    fc.property(fc.array(secret, { maxLength: 4 }), fc.string(), (secrets, between) => {
      const text = secrets.map((known) => `${known}|${encodeURIComponent(known)}`).join(between);
      const shown = withoutSecrets(text, secrets);
      for (const known of secrets) expect(shown).not.toContain(known);
    }),
  );
  expect(withoutSecrets('nothing here', ['else', ''])).toBe('nothing here');
  expect(withoutSecrets('a key: abc', ['abc'])).toBe('a key: abc');
});
