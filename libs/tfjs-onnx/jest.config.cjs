module.exports = {
  ...require('../../jest.preset.cjs'),
  displayName: 'tfjs-onnx',
  testEnvironment: '<rootDir>/jest-environment.cjs',
};
