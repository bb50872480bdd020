import js from '@eslint/js';
import tseslint from 'typescript-eslint';

export default tseslint.config(
  {
    ignores: [
      'dist',
      'coverage',
      'docs/reference',
      'site/dist',
      'site/pages',
      'site/.vitepress/cache',
      'site/.vitepress/theme', // two lines of VitePress, whose types ask for Vue
      'node_modules',
      'test/.tmp',
      '.stryker-tmp',
      'test/projects/*/**',
    ],
  },
  js.configs.recommended,
  tseslint.configs.strictTypeChecked,
  {
    languageOptions: { parserOptions: { projectService: true } },
    rules: {
      '@typescript-eslint/consistent-type-imports': ['error', { fixStyle: 'inline-type-imports' }],
      // A type import that stays as a side effect would load what it names, zod for one.
      '@typescript-eslint/no-import-type-side-effects': 'error',
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true }],
      '@typescript-eslint/no-confusing-void-expression': ['error', { ignoreArrowShorthand: true }],
      // Records that the documents leave open are interfaces, so that users can augment them.
      '@typescript-eslint/no-empty-object-type': [
        'error',
        { allowInterfaces: 'with-single-extends' },
      ],
      'no-restricted-imports': [
        'error',
        {
          paths: [
            {
              name: 'zod',
              message: "Import * as z from 'zod/mini': the brace import drags in every locale.",
            },
          ],
        },
      ],
      curly: 'error',
      'no-duplicate-imports': 'error',
      'no-restricted-syntax': [
        'error',
        {
          selector:
            'AssignmentExpression:not(ExpressionStatement > AssignmentExpression, ForStatement > AssignmentExpression)',
          message: 'An assignment is a statement of its own.',
        },
        {
          selector: 'ObjectExpression > SpreadElement > ObjectExpression',
          message: 'Write the properties where they belong.',
        },
      ],
      'max-params': 'off',
      '@typescript-eslint/max-params': ['error', { max: 4 }],
      'max-lines-per-function': ['error', { max: 80, skipBlankLines: true, skipComments: true }],
    },
  },
  {
    files: ['test/**', 'scripts/**', 'bench/**', 'demo/**', 'examples/**', '*.config.{js,ts}'],
    rules: {
      'max-lines-per-function': 'off',
      '@typescript-eslint/no-non-null-assertion': 'off',
    },
  },
  {
    files: ['test/**'],
    ignores: ['test/support/property.ts'],
    rules: {
      'no-restricted-imports': [
        'error',
        { name: 'fast-check', message: 'Import test/support/property.js: it has a fixed seed.' },
      ],
    },
  },
  {
    files: ['**/*.js', '**/*.mjs'],
    extends: [tseslint.configs.disableTypeChecked],
    rules: { 'no-undef': 'off' }, // Node's globals
  },
);
