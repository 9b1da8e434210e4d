import { connectionOptions, type Broker } from './broker';

it.each<[Broker, object, string]>([
  [{ servers: 'a:4222, nats://b' }, { servers: ['nats://a:4222', 'nats://b'] }, 'nothing but servers'],
  [
    { servers: 'nats://me:h%40sh@a:4222,nats://me:h%40sh@b:4222' },
    { servers: ['nats://a:4222', 'nats://b:4222'], user: 'me', pass: 'h@sh' },
    'credentials of a URL count, and are no part of the address',
  ],
  [
    { servers: 'nats://me:hush@a', user: 'you', password: 'secret' },
    { servers: ['nats://a'], user: 'you', pass: 'secret' },
    'those of the variables win',
  ],
  [{ servers: 'tls://a,nats://b' }, { servers: ['tls://a', 'nats://b'], tls: {} }, 'one tls:// is TLS for all'],
  [{ servers: 'nats://a', caFile: 'ca.crt' }, { servers: ['nats://a'], tls: { caFile: 'ca.crt' } }, 'so is a CA file'],
])('%j', (broker, options) => expect(connectionOptions(broker)).toEqual(options));
