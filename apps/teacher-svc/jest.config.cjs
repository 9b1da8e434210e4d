module.exports = {
  ...require('../../jest.preset.cjs'),
  displayName: 'teacher-svc',
  testEnvironment: '<rootDir>/../../libs/tfjs-onnx/jest-environment.cjs',
};
