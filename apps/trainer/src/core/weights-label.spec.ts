import { isVersion, labelledVersion, weightsLabel } from './weights-label';

it('a label names its version, and every update has another one', () => {
  expect(weightsLabel(5, 1)).toBe('hindcast-v000005@1');
  expect(labelledVersion(weightsLabel(5, 1))).toBe(5);
  expect(weightsLabel(5, 1)).not.toBe(weightsLabel(5, 2));
});

it.each([
  { label: 'hindcast-v000005@1', version: 5, expected: true, why: 'its own' },
  { label: 'hindcast-v000004@1', version: 5, expected: false, why: 'an older one' },
  { label: 'hindcast-v000000@1', version: 0, expected: true, why: 'the base model was put back' },
  { label: 'hindcast-v000005@1', version: 0, expected: false, why: 'the base model is to serve again' },
  { label: 'default', version: 0, expected: true, why: 'SGLang as it was started' },
  { label: null, version: 0, expected: true, why: 'vLLM as it was started' },
  { label: 'default', version: 5, expected: false, why: 'SGLang after a restart has the base model' },
  { label: null, version: 5, expected: false, why: 'vLLM after a restart, or paused' },
  { label: 'hindcast-unknown', version: 0, expected: false, why: 'an update broke off' },
  { label: 'somebody-else', version: 5, expected: false, why: 'labelled by another program' },
])('$label is version $version: $expected ($why)', ({ label, version, expected }) => {
  expect(isVersion(label, version)).toBe(expected);
});
