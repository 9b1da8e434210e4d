// Tests run from the sources (swc, no build step): a workspace import resolves to that library's src.
module.exports = {
  testEnvironment: 'node',
  transform: {
    '^.+\\.ts$': [
      '@swc/jest',
      {
        jsc: {
          parser: { syntax: 'typescript', decorators: true },
          transform: { legacyDecorator: true, decoratorMetadata: true },
          target: 'es2023',
          keepClassNames: true,
        },
        module: { type: 'commonjs' },
        swcrc: false,
      },
    ],
  },
  moduleFileExtensions: ['ts', 'js', 'json'],
  moduleNameMapper: {
    '^@hindcast/([^/]+)$': '<rootDir>/../../libs/$1/src/index.ts',
    '^@hindcast/([^/]+)/([^/]+)$': '<rootDir>/../../libs/$1/src/$2.ts',
  },
  testMatch: ['<rootDir>/src/**/*.spec.ts', '<rootDir>/src/**/*.int-spec.ts'],
  testTimeout: 30_000,
};
