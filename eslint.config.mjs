import js from '@eslint/js';
import nx from '@nx/eslint-plugin';
import jsxA11y from 'eslint-plugin-jsx-a11y';
import reactHooks from 'eslint-plugin-react-hooks';
import tseslint from 'typescript-eslint';

// What a pure module may not reach: frameworks, transports, Node itself, clocks, randomness, the environment.
const impureImports = [
  { group: ['@nestjs/*', '@nats-io/*', '@prisma/*'], message: 'core/ decides and imports no framework or transport.' },
  {
    group: ['node:*', 'fs', 'path', 'crypto', 'os', 'child_process', 'http', 'https', 'net'],
    message: 'core/ imports no Node built-in; pass the value in.',
  },
  { group: ['undici', 'pg', 'pino'], message: 'core/ does no I/O.' },
];
const impureGlobals = [
  'process',
  'fetch',
  'setTimeout',
  'setInterval',
  'setImmediate',
  'queueMicrotask',
  'performance',
  'crypto',
].map((name) => ({ name, message: 'core/ is pure; pass the value in.' }));

export default tseslint.config(
  { ignores: ['**/dist', '**/out-tsc', '**/node_modules', '**/generated', '**/jest.config.cjs', '.nx', '.data'] },
  js.configs.recommended,
  ...tseslint.configs.recommended,
  {
    files: ['**/*.ts', '**/*.tsx'],
    plugins: { '@nx': nx },
    rules: {
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
      '@nx/enforce-module-boundaries': [
        'error',
        {
          enforceBuildableLibDependency: false,
          allow: [],
          // Its protobuf writer alone loads no onnxruntime.
          checkDynamicDependenciesExceptions: ['@hindcast/tfjs-onnx/protobuf'],
          depConstraints: [
            {
              sourceTag: 'type:contracts',
              onlyDependOnLibsWithTags: [],
              bannedExternalImports: ['@nestjs/*', '@nats-io/*', '@tensorflow/*', 'onnxruntime-node'],
            },
            { sourceTag: 'type:pure', onlyDependOnLibsWithTags: [], bannedExternalImports: ['*'] },
            { sourceTag: 'type:world', onlyDependOnLibsWithTags: [], bannedExternalImports: ['*'] },
            {
              sourceTag: 'type:platform',
              onlyDependOnLibsWithTags: ['type:contracts'],
              bannedExternalImports: ['@tensorflow/*', 'onnxruntime-node'],
            },
            {
              sourceTag: 'type:compute',
              onlyDependOnLibsWithTags: ['type:compute'],
              bannedExternalImports: ['@nestjs/*', '@nats-io/*'],
            },
            {
              sourceTag: 'type:app',
              onlyDependOnLibsWithTags: ['type:contracts', 'type:pure', 'type:platform', 'type:compute', 'type:world'],
            },
            { sourceTag: 'type:page', onlyDependOnLibsWithTags: ['type:contracts'] },
          ],
        },
      ],
    },
  },
  {
    ...jsxA11y.flatConfigs.strict,
    files: ['apps/dashboard/src/**/*.tsx'],
  },
  {
    files: ['apps/dashboard/src/**/*.{ts,tsx}'],
    ignores: ['**/*.spec.ts', '**/*.int-spec.ts', '**/testing/**'],
    plugins: { 'react-hooks': reactHooks },
    rules: {
      ...reactHooks.configs.recommended.rules,
      // zod and everything else of the contracts stays out of the page: it takes types alone.
      '@typescript-eslint/no-restricted-imports': [
        'error',
        { patterns: [{ group: ['@hindcast/*'], allowTypeImports: true, message: 'The page imports types only.' }] },
      ],
    },
  },
  {
    files: ['**/*.spec.ts', '**/*.int-spec.ts', '**/testing/**/*.ts', 'tools/**/*.ts', 'e2e/**/*.ts'],
    rules: { '@nx/enforce-module-boundaries': 'off' },
  },
  // Of two entries that match a file, the later one wins: core/ comes after the wider rule.
  {
    files: ['apps/*/src/**/*.ts', 'libs/platform/src/**/*.ts'],
    ignores: ['**/main.ts', '**/config.ts', '**/*.spec.ts', '**/*.int-spec.ts', '**/testing/**', '**/crash-point.ts'],
    rules: {
      'no-restricted-properties': [
        'error',
        { object: 'process', property: 'env', message: 'Read the environment in config.ts only.' },
      ],
    },
  },
  {
    files: [
      'apps/*/src/core/**/*.ts',
      'libs/*/src/core/**/*.ts',
      'libs/advantage/src/**/*.ts',
      'libs/contracts/src/**/*.ts',
    ],
    ignores: ['**/*.spec.ts'],
    rules: {
      'no-restricted-imports': ['error', { patterns: impureImports }],
      'no-restricted-globals': ['error', ...impureGlobals],
      'no-restricted-properties': [
        'error',
        { object: 'Date', property: 'now', message: 'core/ is pure; pass the time in.' },
        { object: 'Math', property: 'random', message: 'core/ is pure; pass the randomness in.' },
      ],
      'no-restricted-syntax': [
        'error',
        {
          selector: "NewExpression[callee.name='Date'][arguments.length=0]",
          message: 'core/ is pure; pass the time in.',
        },
      ],
    },
  },
  {
    files: ['**/*.mjs', '**/*.cjs'],
    languageOptions: {
      globals: {
        process: 'readonly',
        console: 'readonly',
        module: 'writable',
        require: 'readonly',
        URL: 'readonly',
        setTimeout: 'readonly',
        fetch: 'readonly',
        __dirname: 'readonly',
      },
    },
    rules: { '@typescript-eslint/no-require-imports': 'off' },
  },
);
