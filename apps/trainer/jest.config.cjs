module.exports = {
  ...require('../../jest.preset.cjs'),
  displayName: 'trainer',
  // onnxruntime and the tests must agree on what a Float32Array is.
  testEnvironment: '<rootDir>/../../libs/tfjs-onnx/jest-environment.cjs',
};
