import { expect, it } from 'vitest';
import { hasOurWarning } from '../../scripts/projects/warnings.js';

it.each([
  'WARNING in ./node_modules/postreel/dist/esm/index.js 1:1\nCritical dependency',
  '[warn] Module "node:fs" was externalized, imported by "/app/node_modules/postreel/dist/esm/node/index.js"',
  'Attempted import error: a warning\n\n  Import trace:\n  "postreel/tracker"',
  '(node:1) PostreelWarning: The API key is missing.',
  '(node:1) ExperimentalWarning: Importing JSON modules',
])('a build fails for a warning that the package causes: %j', (output) => {
  expect(hasOurWarning(output)).toBe(true);
});

it.each([
  '[warn] The `css.devSourcemap` option is deprecated.\n[info] Building server...',
  'vite built\n  dist/node_modules/postreel-BpY.js 4 kB',
])('a build does not fail for what a framework prints about itself: %j', (output) => {
  expect(hasOurWarning(output)).toBe(false);
});
