import { matchRoute, withQuery } from './route';

describe('a route', () => {
  it.each([
    ['/', '/', {}],
    ['/ui/turns', '/ui/turns/', {}],
    ['/ui/turns/:id', '/ui/turns/a%20b', { id: 'a b' }],
  ])('%s fits %s', (pattern, path, params) => expect(matchRoute(pattern, path)).toEqual(params));

  it.each([
    ['/', '/ui'],
    ['/ui/turns', '/ui/turns/1'],
    ['/ui/turns/:id', '/ui/turns'],
    ['/ui/turns/:id', '/ui/turns/%E0%A4%A'],
  ])('%s does not fit %s', (pattern, path) => expect(matchRoute(pattern, path)).toBeNull());
});

describe('a query', () => {
  it('names what says something, and 0 does', () =>
    expect(withQuery('/ui/turns', { text: 'a b&c', version: 0, state: '', case: null })).toBe(
      '/ui/turns?text=a+b%26c&version=0',
    ));
  it('is left out when it is empty', () => expect(withQuery('/x', { a: null })).toBe('/x'));
});
