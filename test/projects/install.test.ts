import { describe, expect, it } from 'vitest';
import { reasonOf } from '../../scripts/projects/install.js';

const failed = (output: string) => reasonOf({ isGood: false, output });

describe('an installation that fails', () => {
  it.each([
    ['npm, package', 'npm error code E404\nnpm error 404 Not Found - GET /no-such-package'],
    [
      'npm, version',
      'npm error code ETARGET\nnpm error notarget No matching version found for ky@99.',
    ],
    ['Yarn 1', 'error Couldn\'t find any versions for "ky" that matches "^99.0.0"'],
    ['Yarn 4', '➤ YN0082: │ ky@npm:^99.0.0: No candidates found'],
    ['pnpm, version', 'ERR_PNPM_NO_MATCHING_VERSION  No matching version found for ky@^99.0.0'],
    ['pnpm, package', 'ERR_PNPM_FETCH_404  GET /no-such-package: Not Found - 404'],
    ['a missing version beside a fault of the network', 'ENOTFOUND\nnpm error code ETARGET'],
    ['anything else', 'npm error code ERESOLVE'],
  ])('is a failure: %s', (_name, output) => {
    expect(() => failed(output)).toThrow(output);
  });

  it.each([
    ['npm error code ENOTFOUND', 'the npm registry cannot be reached'],
    ['npm error code EBADPLATFORM', 'npm has none for this platform'],
  ])('is skipped for what the machine lacks: %s', (output, reason) => {
    expect(failed(output)).toBe(reason);
  });
});

it('an installation that succeeds has no reason to be skipped, whatever it printed', () => {
  expect(reasonOf({ isGood: true, output: 'npm warn E404' })).toBeUndefined();
});
