import { corsHeaders, parseOrigin } from './cors';

describe('origins', () => {
  it.each(['https://app.example', 'http://localhost:3000', 'http://[::1]:81'])('%s', (origin) =>
    expect(parseOrigin(origin)).toBe(origin),
  );
  it.each([
    ['*', 'a pattern'],
    ['https://*.example', 'a pattern'],
    ['https://app.example/', 'a path'],
    ['https://app.example/x', 'a path'],
    ['https://APP.example', 'not as a browser sends it'],
    ['https://app.example:443', 'not as a browser sends it'],
    ['app.example', 'no scheme'],
    ['null', 'the origin of sandboxed pages of anybody'],
    ['file://x', 'no web page'],
  ])('%s is refused: %s', (origin) => expect(() => parseOrigin(origin)).toThrow(RangeError));
});

describe('headers', () => {
  const allowed = ['https://app.example'];
  it.each([
    { why: 'no page', origin: undefined, preflight: null },
    { why: 'another origin', origin: 'https://evil.example', preflight: null },
    { why: 'another port', origin: 'https://app.example:8443', preflight: 'authorization' },
    { why: 'a longer name', origin: 'https://app.example.evil', preflight: '' },
  ])('none for $why', ({ origin, preflight }) => expect(corsHeaders(allowed, origin, preflight)).toBeNull());

  it('of an answer name the origin, what may be read, and no credentials', () => {
    const headers = corsHeaders(allowed, 'https://app.example', null)!;
    expect(Object.keys(headers)).toEqual(['access-control-allow-origin', 'access-control-expose-headers']);
    expect(headers['access-control-allow-origin']).toBe('https://app.example');
    for (const name of ['x-hindcast-turn-id', 'x-ratelimit-remaining-tokens', 'x-ratelimit-reset-requests'])
      expect(headers['access-control-expose-headers']!.split(', ')).toContain(name);
  });

  it('of a preflight allow what the page asks to send', () => {
    expect(corsHeaders(allowed, 'https://app.example', 'authorization,x-stainless-os')).toMatchObject({
      'access-control-allow-methods': 'GET, POST',
      'access-control-allow-headers': 'authorization,x-stainless-os',
      'access-control-max-age': '600',
    });
    expect(corsHeaders(allowed, 'https://app.example', '')).not.toHaveProperty('access-control-allow-headers');
  });
});
