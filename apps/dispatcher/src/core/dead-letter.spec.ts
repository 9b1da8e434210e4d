import { contracts, deadSubject, durableName, type ContractName, type DeadLetter } from '@hindcast/contracts';
import { consequenceOf } from './dead-letter';

const turnId = '00000000-0000-4000-8000-000000000001';
const base64 = (text: string): string => Buffer.from(text).toString('base64');
const envelope = base64(JSON.stringify({ v: 1, turnId, tenant: 'acme', body: null }));

function letter(name: ContractName, over: Partial<DeadLetter> = {}): DeadLetter {
  const { subject, handlers } = contracts[name];
  return {
    subject,
    consumer: durableName(handlers[0], subject),
    code: 'max-deliveries',
    error: 'boom',
    deliveries: 11,
    messageId: null,
    payload: envelope,
    ...over,
  };
}

const paired = contracts.turnPaired.subject;
test.each([
  { why: 'no capture event: open or closed, the ledger cannot know', letter: letter('turnCaptured'), kind: 'failed' },
  { why: 'no closing', letter: letter('turnClosed'), kind: 'failed' },
  {
    why: 'the judge gave up',
    letter: letter('turnPaired', { consumer: durableName('judge-svc', paired) }),
    kind: 'dropped',
  },
  {
    why: 'the ledger gave up, the judge may not',
    letter: letter('turnPaired', { consumer: durableName('dispatcher', paired) }),
    kind: 'failed',
  },
  { why: 'the teacher gave up', letter: letter('turnHinted'), kind: 'dropped' },
  { why: 'the gate gave up', letter: letter('turnUnhinted'), kind: 'dropped' },
  { why: 'the gate gave up', letter: letter('turnScored'), kind: 'dropped' },
  { why: 'the trainer cannot read the sample', letter: letter('sampleReady'), kind: 'refused' },
  { why: 'refused, with a reason nobody could read', letter: letter('sampleRefused'), kind: 'refused' },
])('$letter.subject, $why: $kind', ({ letter: dead, kind }) => {
  expect(consequenceOf(dead, null)).toEqual({ turnId, tenant: 'acme', kind });
});

test('a version or a dead letter of a dead letter concerns no turn', () => {
  expect(consequenceOf(letter('policyUpdated'), turnId)).toBeNull();
  expect(consequenceOf(letter('dead', { subject: deadSubject(paired) }), turnId)).toBeNull();
});

test('the turn is read from wherever it can be', () => {
  const broken = letter('turnUnhinted', { payload: base64('{"turnId": 7') });
  expect(consequenceOf(broken, null)).toBeNull();
  expect(consequenceOf(broken, turnId)).toEqual({ turnId, tenant: null, kind: 'dropped' });
  expect(consequenceOf({ ...broken, messageId: `judged.${turnId}` }, null)?.turnId).toBe(turnId);
  for (const payload of ['', base64('null'), base64('[]'), base64('"x"'), base64('{"turnId":"no uuid","tenant":3}')]) {
    expect(consequenceOf(letter('turnUnhinted', { payload }), null)).toBeNull();
  }
});

test.each(['', 'x'.repeat(129), 7, null])('a tenant that no message may have is none: %j', (tenant) => {
  const payload = base64(JSON.stringify({ turnId, tenant }));
  expect(consequenceOf(letter('turnUnhinted', { payload }), null)).toEqual({ turnId, tenant: null, kind: 'dropped' });
});
