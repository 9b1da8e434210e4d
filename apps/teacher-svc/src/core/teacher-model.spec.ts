import { lists, modelOf, recordedName, substitute } from './teacher-model';

const version = (digits: string): string => `hindcast-v${digits}`;

it.each([
  {
    reason: 'the newest other version',
    listed: ['seed', version('000003'), version('000010')],
    scoring: version('000010'),
  },
  { reason: 'SGLang’s names', listed: ['seed', `seed:${version('000004')}`], scoring: version('000004') },
  { reason: 'not the one that is missing', listed: ['seed', version('000012')], scoring: 'seed' },
  { reason: 'by number, not by text', listed: [version('999999'), version('1000000')], scoring: version('1000000') },
  { reason: 'no adapter of ours', listed: ['seed', 'other-lora'], scoring: 'seed' },
  { reason: 'an empty list', listed: [], scoring: 'seed' },
])('scores with $scoring: $reason', ({ listed, scoring }) => {
  expect(recordedName(substitute({ base: 'seed', adapter: version('000012') }, listed))).toBe(scoring);
});

it('finds an adapter under both kinds of names', () => {
  expect(lists([`seed:${version('000004')}`], version('000004'))).toBe(true);
  expect(lists(['seed', version('000005')], version('000004'))).toBe(false);
});

it.each([
  { weights: 'named', number: 4, adapter: version('000004'), recorded: version('000004'), why: 'its own name' },
  { weights: 'named', number: 0, adapter: null, recorded: 'seed', why: 'before any step' },
  {
    weights: 'replaced',
    number: 4,
    adapter: null,
    recorded: version('000004'),
    why: 'the base model’s name, its weights',
  },
  { weights: 'replaced', number: 0, adapter: null, recorded: 'seed', why: 'not yet replaced' },
] as const)('version $number, $weights, is recorded as $recorded: $why', ({ weights, number, adapter, recorded }) => {
  const model = modelOf('seed', { version: number, adapter, weights });
  expect(recordedName(model)).toBe(recorded);
  expect(model.base).toBe('seed');
});
