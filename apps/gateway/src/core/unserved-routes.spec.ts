import { unservedRoute } from './unserved-routes';

describe('unserved routes', () => {
  it.each([
    { method: 'POST', url: '/v1/audio/speech', why: 'documented' },
    { method: 'GET', url: '/v1/files', why: 'a family without more' },
    { method: 'GET', url: '/v1/files?limit=2', why: 'a query' },
    { method: 'GET', url: '/v1/chat/completions', why: 'stored chats' },
    { method: 'POST', url: '/v1/chat/completions/chatcmpl-1', why: 'a stored chat' },
    { method: 'DELETE', url: '/v1/models/ft:x', why: 'models are the engines’' },
  ])('$method $url: $why', ({ method, url }) => {
    expect(unservedRoute(method, url)).toContain(`${method} ${url.split('?')[0]}`);
  });

  it.each([
    { method: 'POST', url: '/v1/chat/completions', why: 'served' },
    { method: 'OPTIONS', url: '/v1/chat/completions', why: 'a browser asks first' },
    { method: 'GET', url: '/v1/models/files', why: 'a name that looks like a family' },
    { method: 'POST', url: '/v1/responses', why: 'served' },
    { method: 'GET', url: '/files', why: 'below another path' },
    { method: 'GET', url: '/v1', why: 'no family' },
    { method: 'GET', url: '/v1/filesystem', why: 'begins like a family' },
    { method: 'GET', url: '', why: 'nothing' },
  ])('not $method $url: $why', ({ method, url }) => expect(unservedRoute(method, url)).toBeNull());
});
