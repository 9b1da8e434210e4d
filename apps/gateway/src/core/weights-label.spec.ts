import { weightsVersion } from './weights-label';

const base = { version: 0, weights: 'replaced' } as const;
const fifth = { version: 5, weights: 'replaced' } as const;

it.each([
  { before: 'hindcast-v000005@1', after: 'hindcast-v000005@1', served: fifth, version: 5, why: 'nothing moved' },
  { before: 'hindcast-v000004@1', after: 'hindcast-v000004@1', served: fifth, version: 4, why: 'not yet updated' },
  { before: 'hindcast-v000006@1', after: 'hindcast-v000006@1', served: fifth, version: 6, why: 'under examination' },
  { before: 'hindcast-v000004@1', after: 'hindcast-v000005@2', served: fifth, version: null, why: 'updated meanwhile' },
  { before: 'hindcast-v000004@1', after: 'hindcast-v000004@3', served: fifth, version: null, why: 'there and back' },
  { before: 'default', after: 'hindcast-v000001@1', served: base, version: null, why: 'the first update' },
  { before: 'hindcast-v000005@1', after: 'default', served: fifth, version: null, why: 'restarted meanwhile' },
  { before: 'default', after: 'default', served: fifth, version: null, why: 'restarted, not yet updated' },
  { before: null, after: null, served: fifth, version: null, why: 'the same, of vLLM' },
  { before: 'default', after: 'default', served: base, version: 0, why: 'as it was started' },
  { before: null, after: null, served: base, version: 0, why: 'as it was started' },
  { before: 'hindcast-v000000@9', after: 'hindcast-v000000@9', served: base, version: 0, why: 'rolled back to it' },
  { before: 'no-labels', after: 'no-labels', served: base, version: 0, why: 'it cannot be given others' },
  { before: 'hindcast-unknown', after: 'hindcast-unknown', served: base, version: null, why: 'an update broke off' },
])('$before … $after: $version ($why)', ({ before, after, served, version }) => {
  expect(weightsVersion(before, after, served)).toBe(version);
});
