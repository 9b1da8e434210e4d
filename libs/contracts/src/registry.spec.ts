import { golden } from './testing/messages';
import { queries, surveys } from './query';
import { contractOf, contracts, deadSubject, durableName, messageSchema, streams, type ContractName } from './registry';

const names = Object.keys(contracts) as ContractName[];

describe.each(names)('%s', (name) => {
  const { message, twins } = golden[name];
  const schema = messageSchema(name);
  const refuses = (value: unknown): void =>
    expect(schema.safeParse(JSON.parse(JSON.stringify(value))).success).toBe(false);

  it('passes the wire unchanged', () => {
    expect(schema.parse(JSON.parse(JSON.stringify(message)))).toEqual(message);
  });

  it.each(Object.entries(twins))('refuses %s', (_, breakIt) => {
    refuses(breakIt(message as unknown as Record<string, unknown>));
  });

  it.each([
    ['another version', { ...message, v: 2 }],
    ['no version', { ...message, v: undefined }],
    ['no tenant', { ...message, tenant: '' }],
    ['a turn id that is none', { ...message, turnId: 'turn-1' }],
    ['a time that is none', { ...message, at: '2026-11-30' }],
    ['a field too many around the body', { ...message, extra: 1 }],
    ['a field too many in the body', { ...message, body: { ...message.body, extra: 1 } }],
    ['no body', { ...message, body: null }],
    ['a list', [message]],
  ])('refuses %s', (_, broken) => refuses(broken));

  it('may lack a turn only where no turn is meant', () => {
    const turnless = name === 'sessionOutcome' || name === 'policyUpdated' || name === 'dead';
    expect(schema.safeParse({ ...message, turnId: null }).success).toBe(turnless);
  });
});

it('says which contract a subject belongs to', () => {
  for (const name of names) {
    if (name === 'dead') continue;
    expect(contractOf(contracts[name].subject)).toBe(name);
    expect(contractOf(deadSubject(contracts[name].subject))).toBe('dead');
  }
  for (const subject of ['rl.v1.turn', 'rl.v1.turn.paired.x', 'rl.v1.dead', '']) expect(contractOf(subject)).toBeNull();
});

it('stores every subject in one stream, and no query in any', () => {
  const stored = Object.values(streams).flat();
  expect([...stored].sort()).toEqual(names.map((name) => contracts[name].subject).sort());
  expect(new Set(stored).size).toBe(stored.length);
  for (const { subject } of [...Object.values(queries), ...Object.values(surveys)]) {
    for (const pattern of stored) expect(matches(pattern, subject)).toBe(false);
  }
  expect(matches(contracts.dead.subject, deadSubject(contracts.turnPaired.subject))).toBe(true);
});

it('gives every app and subject a durable name of its own that NATS takes', () => {
  const durables = names.flatMap((name) =>
    contracts[name].handlers.map((app) => durableName(app, contracts[name].subject)),
  );
  expect(new Set(durables).size).toBe(durables.length);
  for (const durable of durables) expect(durable).toMatch(/^[a-z0-9-]+$/);
});

it('shares a message id between the two judgements of a turn, and between no others', () => {
  const stages = names.map((name) => contracts[name].stage);
  expect(contracts.turnHinted.stage).toBe(contracts.turnUnhinted.stage);
  expect(new Set(stages).size).toBe(stages.length - 1);
});

/** NATS's rules: `*` is one token, `>` one or more at the end. */
function matches(pattern: string, subject: string): boolean {
  const tokens = subject.split('.');
  const parts = pattern.split('.');
  if (parts.at(-1) === '>')
    return (
      tokens.length >= parts.length &&
      matches(parts.slice(0, -1).join('.'), tokens.slice(0, parts.length - 1).join('.'))
    );
  return parts.length === tokens.length && parts.every((part, i) => part === '*' || part === tokens[i]);
}
