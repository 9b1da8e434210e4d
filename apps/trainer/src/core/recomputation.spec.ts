import { tinyConfig } from '../testing/toy-policy';
import { activationBytes, recomputes } from './recomputation';

/** 28 layers, as Qwen3-0.6B has them. */
const large = {
  ...tinyConfig,
  layers: 28,
  hiddenSize: 1024,
  intermediateSize: 3072,
  heads: 16,
  maxPositions: 40_960,
};

describe('recomputes', () => {
  it.each([
    { setting: 'on', backend: 'wasm', config: tinyConfig, expected: true, why: 'asked for' },
    { setting: 'on', backend: 'onnx', config: large, expected: false, why: 'a recorded graph merges it again' },
    { setting: 'auto', backend: 'onnx-webgpu', config: large, expected: false, why: 'here too' },
    { setting: 'auto', backend: 'tfjs-node-gpu', config: large, expected: true, why: 'activations beyond a gibibyte' },
    { setting: 'auto', backend: 'tfjs-node', config: tinyConfig, expected: false, why: 'they fit' },
    { setting: 'off', backend: 'tfjs-node-gpu', config: large, expected: false, why: 'asked not to' },
  ] as const)('$setting on $backend: $expected, $why', ({ setting, backend, config, expected }) => {
    expect(recomputes(setting, backend, config, 8192)).toBe(expected);
  });
});

it('activationBytes counts positions up to the budget', () => {
  expect(activationBytes(tinyConfig, 64)).toBe(4 * 64 * (12 * 4 + 6 * 6 + 3 * 2 * 64));
});
