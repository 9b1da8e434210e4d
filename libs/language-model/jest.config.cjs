module.exports = {
  ...require('../../jest.preset.cjs'),
  displayName: 'language-model',
  testEnvironment: '<rootDir>/../tfjs-onnx/jest-environment.cjs',
};
