import { readServers, shownServers, type ServerAddress } from './server-list';

it.each<[string, ServerAddress[], string]>([
  ['127.0.0.1:4222', [{ url: 'nats://127.0.0.1:4222', isTls: false, credentials: null }], 'nats:// may be left out'],
  [
    'nats://a, nats://b:1/',
    [
      { url: 'nats://a', isTls: false, credentials: null },
      { url: 'nats://b:1', isTls: false, credentials: null },
    ],
    'several',
  ],
  ['TLS://h', [{ url: 'tls://h', isTls: true, credentials: null }], 'capitals ask for TLS as well'],
  [
    'u:p@h',
    [{ url: 'nats://h', isTls: false, credentials: { user: 'u', password: 'p' } }],
    'credentials without nats://',
  ],
  [
    'tls://u:a%40b%2F:c@[::1]:4222',
    [{ url: 'tls://[::1]:4222', isTls: true, credentials: { user: 'u', password: 'a@b/:c' } }],
    'escapes, and a colon in a password',
  ],
])('reads %s', (list, expected) => expect(readServers(list)).toEqual(expected));

it.each([
  ['', /one or more of/],
  ['nats://', /one or more of/],
  ['nats://h/path', /one or more of/],
  ['wss://h', /not wss:\/\//],
  ['nats://u:SECRET@x@h', /%40/],
  ['nats://u:SECRET/1@h', /%2F/],
  ['nats://u:SECRET 1@h', /%20/],
  ['nats://u:SECRET%zz@h', /%25/],
  ['nats://SECRET@h', /a user and a password/],
  ['nats://u:@h', /a user and a password/],
  ['nats://u:SECRET@h,nats://v:SECRET@i', /different users/],
])('refuses %s, and shows no password', (list, message) => {
  expect(() => readServers(list)).toThrow(message);
  expect(() => readServers(list)).not.toThrow(/SECRET/);
});

it.each([
  'u:SECRET@h',
  'nats://u:SECRET@h',
  'nats://u:x@SECRET@h',
  'nats://u:a SECRET@h',
  'nats://u:1/SECRET@h',
  'TLS://SECRET@h',
  'nats://a,nats://u:SECRET@h',
])('shows nothing of the password in %s', (list) => expect(shownServers(list)).not.toMatch(/SECRET/));
