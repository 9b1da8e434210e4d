import { createHmac } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SessionId } from '@hindcast/contracts';
import { identitySecret, knownIdentitySecret, sessionIdOf, userIdOf } from './identities';

const secret = Buffer.from('a secret of all gateways');

describe('identities', () => {
  it('are what the contracts take for one, and the same each time', () => {
    for (const identityOf of [sessionIdOf, userIdOf]) {
      expect(SessionId.parse(identityOf(secret, 'alice', 'a'))).toBe(identityOf(secret, 'alice', 'a'));
      expect(identityOf(secret, 'alice', 'a')).toHaveLength(32);
    }
  });

  it('of a session stay what they were for the sessions that are stored already', () => {
    const mac = createHmac('sha256', secret).update('["alice","a"]').digest('hex');
    expect(sessionIdOf(secret, 'alice', 'a')).toBe(mac.slice(0, 32));
  });

  it.each([
    ['another user', 'alice', 'b'],
    ['another tenant', 'bob', 'a'],
    ['a tenant and an id that are joined alike', 'alicea', ''],
    ['a tenant named like the kind', 'user', 'a'],
  ])('differ for %s', (_, tenant, id) => {
    const own = [sessionIdOf(secret, 'alice', 'a'), userIdOf(secret, 'alice', 'a')];
    const others = [sessionIdOf(secret, tenant, id), userIdOf(secret, tenant, id)];
    expect(new Set([...own, ...others]).size).toBe(4);
  });

  it('differ with the key', () => {
    expect(userIdOf(Buffer.from('another key here'), 'alice', 'a')).not.toBe(userIdOf(secret, 'alice', 'a'));
  });
});

describe('the key', () => {
  let folder: string;
  beforeEach(() => void (folder = mkdtempSync(join(tmpdir(), 'hindcast-identities-'))));
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  it('is made once, and read by who comes later', () => {
    const made = identitySecret({ DATA_DIR: join(folder, 'new') });
    expect(made).toHaveLength(32);
    expect(identitySecret({ DATA_DIR: join(folder, 'new') })).toEqual(made);
    expect(knownIdentitySecret({ DATA_DIR: join(folder, 'new') })).toEqual(made);
    expect(readFileSync(join(folder, 'new', 'session.key'), 'utf8')).toBe(made.toString('hex'));
  });

  it('is the variable where it is set', () => {
    const source = { SESSION_SECRET: 'a secret of all gateways', DATA_DIR: join(folder, 'none') };
    expect(identitySecret(source)).toEqual(secret);
    expect(knownIdentitySecret(source)).toEqual(secret);
  });

  it('is never made by who must know it', () => {
    expect(() => knownIdentitySecret({ DATA_DIR: folder })).toThrow('SESSION_SECRET');
    expect(() => readFileSync(join(folder, 'session.key'))).toThrow('ENOENT');
  });

  it.each(['', 'not hex', 'abcd'])('is refused when the file holds %j', (text) => {
    writeFileSync(join(folder, 'session.key'), text);
    expect(() => identitySecret({ DATA_DIR: folder })).toThrow('does not hold a key');
    expect(() => knownIdentitySecret({ DATA_DIR: folder })).toThrow('does not hold a key');
  });
});
