module.exports = {
  ...require('../jest.preset.cjs'),
  displayName: 'e2e',
  moduleNameMapper: {
    '^@hindcast/([^/]+)$': '<rootDir>/../libs/$1/src/index.ts',
    '^@hindcast/([^/]+)/([^/]+)$': '<rootDir>/../libs/$1/src/$2.ts',
  },
  // The embedded engine may run in the test's own process.
  testEnvironment: '<rootDir>/../libs/tfjs-onnx/jest-environment.cjs',
  testMatch: ['<rootDir>/**/*.e2e-spec.ts'],
  testTimeout: 600_000,
};
