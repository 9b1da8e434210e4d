module.exports = {
  ...require('../../jest.preset.cjs'),
  displayName: 'seed-model',
  testEnvironment: '<rootDir>/../../libs/tfjs-onnx/jest-environment.cjs',
};
