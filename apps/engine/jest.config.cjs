module.exports = {
  ...require('../../jest.preset.cjs'),
  displayName: 'engine',
  testEnvironment: '<rootDir>/../../libs/tfjs-onnx/jest-environment.cjs',
};
