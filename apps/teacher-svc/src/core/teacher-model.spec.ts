import { lists, recordedName, substitute } from './teacher-model';

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
