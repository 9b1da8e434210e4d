import {
  bearerToken,
  isLoopback,
  keysInForce,
  parseAdminKey,
  parseApiKey,
  parseKeyFile,
  shownKeys,
  type ApiKey,
  type Limits,
} from './api-keys';

const hash = (digit: string): string => digit.repeat(64);
const none: Limits = { requestsPerMinute: null, tokensPerMinute: null };
const defaults: Limits = { requestsPerMinute: 60, tokensPerMinute: 1000 };

describe('API keys of the environment', () => {
  it('are a name, which is the tenant, and a hash', () => {
    expect(parseApiKey(`ann:${hash('A')}`)).toEqual({
      name: 'ann',
      tenant: 'ann',
      sha256: hash('a'),
      expiresAt: null,
      isAdmin: false,
    });
  });
  it.each([
    'ann',
    'ann:xyz',
    `:${hash('a')}`,
    `a b:${hash('a')}`,
    `ann:${hash('a')}:`,
    `${'n'.repeat(129)}:${hash('a')}`,
  ])('%s is refused without being repeated', (entry) =>
    expect(() => parseApiKey(entry)).toThrow(new RangeError('an API key is given as name:sha256hex')),
  );
});

describe('the keys file', () => {
  const parse = (...keys: unknown[]): readonly ApiKey[] => parseKeyFile(JSON.stringify({ keys }), defaults);

  it('gives a key its name as tenant, and the default limits, unless it says otherwise', () => {
    expect(
      parse(
        { name: 'ann', sha256: hash('A') },
        { name: 'ci', sha256: hash('b'), tenant: 'ann', requestsPerMinute: 5, tokensPerMinute: null },
        { name: 'guest', sha256: hash('c'), admin: true, expiresAt: '2027-01-31T01:00:00+01:00' },
      ),
    ).toEqual([
      { name: 'ann', tenant: 'ann', sha256: hash('a'), expiresAt: null, limits: defaults, isAdmin: false },
      {
        name: 'ci',
        tenant: 'ann',
        sha256: hash('b'),
        expiresAt: null,
        limits: { requestsPerMinute: 5, tokensPerMinute: null },
        isAdmin: false,
      },
      {
        name: 'guest',
        tenant: 'guest',
        sha256: hash('c'),
        expiresAt: Date.UTC(2027, 0, 31),
        limits: defaults,
        isAdmin: true,
      },
    ]);
  });
  it('may be without keys', () => expect(parse()).toEqual([]));

  const secret = 'sk-in-the-wrong-place';
  const good = { name: 'ann', sha256: hash('a') };
  it.each([
    { why: 'no JSON', text: `{"keys": ${secret}`, problem: 'it is not JSON' },
    { why: 'empty', text: '', problem: 'it is not JSON' },
    { why: 'no object', text: '[]', problem: /object/ },
    { why: 'no list', text: `{"keys": {"${secret}": 1}}`, problem: 'keys: a list of keys is needed' },
    {
      why: 'a field beside the list',
      text: `{"keys": [], "${secret}": 1}`,
      problem: /^there is a field that is not known$/,
    },
    {
      why: 'an unknown field of a key',
      text: JSON.stringify({ keys: [{ ...good, [secret]: 1 }] }),
      problem: 'keys.0: there is a field that is not known',
    },
    {
      why: 'a key in place of its hash',
      text: JSON.stringify({ keys: [good, { name: 'bob', sha256: secret }] }),
      problem: 'keys.1.sha256: the SHA-256 of the key is needed, 64 hex digits',
    },
    { why: 'no hash', text: '{"keys": [{"name": "ann"}]}', problem: 'keys.0.sha256: a hash is needed' },
    {
      why: 'no name',
      text: JSON.stringify({ keys: [{ sha256: hash('a') }] }),
      problem: 'keys.0.name: a name is needed',
    },
    {
      why: 'a name with a space',
      text: JSON.stringify({ keys: [{ ...good, name: `${secret} x` }] }),
      problem: /^keys.0.name: 1 to 128/,
    },
    {
      why: 'a limit of nothing',
      text: JSON.stringify({ keys: [{ ...good, requestsPerMinute: 0 }] }),
      problem: /^keys.0.requestsPerMinute/,
    },
    {
      why: 'half a token',
      text: JSON.stringify({ keys: [{ ...good, tokensPerMinute: 0.5 }] }),
      problem: /^keys.0.tokensPerMinute/,
    },
    {
      why: 'a limit as text',
      text: JSON.stringify({ keys: [{ ...good, tokensPerMinute: secret }] }),
      problem: /^keys.0.tokensPerMinute/,
    },
    {
      why: 'a time of nowhere',
      text: JSON.stringify({ keys: [{ ...good, expiresAt: '2027-01-31T00:00:00' }] }),
      problem: /^keys.0.expiresAt/,
    },
    {
      why: 'no word whether it is an administrator’s',
      text: JSON.stringify({ keys: [{ ...good, admin: secret }] }),
      problem: 'keys.0.admin: true or false is needed',
    },
    { why: 'no time', text: JSON.stringify({ keys: [{ ...good, expiresAt: secret }] }), problem: /^keys.0.expiresAt/ },
  ])('$why: refused with the problem named and nothing quoted', ({ text, problem }) => {
    const parsed = (): unknown => parseKeyFile(text, none);
    expect(parsed).toThrow(RangeError);
    expect(parsed).toThrow(problem);
    expect(parsed).not.toThrow(secret);
  });
});

describe('keys in force', () => {
  const fromFile = (name: string, digit: string, more: Partial<ApiKey> = {}): ApiKey => ({
    name,
    tenant: name,
    sha256: hash(digit),
    expiresAt: null,
    limits: none,
    isAdmin: false,
    ...more,
  });
  const ann = parseApiKey(`ann:${hash('a')}`);

  it('are those of both sources; a name in both has the file’s limits', () => {
    const own = { requestsPerMinute: 7, tokensPerMinute: null };
    const keys = keysInForce([ann, parseApiKey(`bob:${hash('b')}`)], [fromFile('ann', 'c', { limits: own })], defaults);
    expect(keys.map((key) => [key.name, key.sha256[0], key.limits])).toEqual([
      ['ann', 'a', own],
      ['bob', 'b', defaults],
      ['ann', 'c', own],
    ]);
  });
  it('may have one name twice, for a rotation with an overlap', () => {
    expect(keysInForce([ann, parseApiKey(`ann:${hash('b')}`)], [], defaults)).toHaveLength(2);
  });
  it('may have one tenant under several names', () => {
    expect(keysInForce([], [fromFile('ann', 'a'), fromFile('ci', 'b', { tenant: 'ann' })], none)).toHaveLength(2);
  });
  it('a key that stands in both sources is one, with what the file says', () => {
    expect(keysInForce([ann], [fromFile('ann', 'a', { expiresAt: 5 })], none)).toEqual([
      fromFile('ann', 'a', { expiresAt: 5 }),
    ]);
  });

  it('a key is an administrator’s when either source says so; another one of its name is not', () => {
    const keys = keysInForce(
      [ann, parseAdminKey(`ann:${hash('a')}`), parseApiKey(`bob:${hash('b')}`), parseAdminKey(`bob:${hash('c')}`)],
      [fromFile('eve', 'd', { isAdmin: true })],
      none,
    );
    expect(keys.map((key) => [key.sha256[0], key.isAdmin])).toEqual([
      ['a', true],
      ['b', false],
      ['c', true],
      ['d', true],
    ]);
  });

  it.each([
    { why: 'one key under two names', keys: [fromFile('bob', 'a')], problem: /^keys.0: the same key/ },
    { why: 'a name with two tenants', keys: [fromFile('ann', 'b', { tenant: 'x' })], problem: /^keys.0: .*tenant/ },
    {
      why: 'a name with two limits',
      keys: [fromFile('bob', 'b'), fromFile('bob', 'c', { limits: defaults })],
      problem: /^keys.1: .*limits/,
    },
  ])('$why is refused', ({ keys, problem }) => expect(() => keysInForce([ann], keys, none)).toThrow(problem));
});

describe('the key that a request shows', () => {
  it.each([
    ['Bearer k', 'k'],
    ['bearer  k ', 'k'],
    ['Basic k', null],
    [undefined, null],
    ['Bearer ', null],
  ])('%j', (header, token) => expect(bearerToken(header)).toBe(token));

  it.each([
    { headers: {}, keys: [] },
    { headers: { authorization: 'Bearer a' }, keys: ['a'] },
    { headers: { 'x-api-key': ' b ' }, keys: ['b'] },
    { headers: { authorization: 'Bearer a', 'x-api-key': 'b' }, keys: ['a', 'b'] },
    { headers: { authorization: 'Basic a', 'x-api-key': 'b' }, keys: ['b'] },
    { headers: { 'x-api-key': '' }, keys: [] },
    { headers: { 'x-api-key': ['a', 'b'] }, keys: [] },
  ])('$headers: $keys', ({ headers, keys }) => expect(shownKeys(headers)).toEqual(keys));
});

describe('loopback', () => {
  it.each([
    ['127.0.0.1', true],
    ['127.1.2.3', true],
    ['::1', true],
    ['localhost', true],
    ['0.0.0.0', false],
    ['127.0.0.1.evil', false],
  ])('%s is loopback: %s', (host, expected) => expect(isLoopback(host)).toBe(expected));
});
