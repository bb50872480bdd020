import { beforeEach, describe, expect, it, vi } from 'vitest';
import { calls } from '../support/misuse/calls.js';
import { creating } from '../support/misuse/creating.js';
import { elsewhere } from '../support/misuse/elsewhere.js';
import { files, pages } from '../support/misuse/files.js';

const misuses = { creating, calls, files, pages, elsewhere };

beforeEach(() => {
  for (const name of ['MESSAGING_API_KEY', 'MESSAGING_BASE_URL', 'MEDIA_API_KEY']) {
    vi.stubEnv(name, '');
  }
});

describe.each(Object.entries(misuses))('%s', (_, table) => {
  it.each(table)('%s: says what happened, where and what to do', async (_mistake, run, says) => {
    const error = await Promise.resolve()
      .then(run)
      .then(() => undefined)
      .catch((failure: unknown) => failure);
    expect(error).toBeInstanceOf(Error);
    const { message, stack = '' } = error as Error;
    expect(message).toMatch(says);
    // The first line that is neither the package's nor the engine's own is the user's.
    const frames = stack.split('\n').filter((line) => /^\s+at /.test(line));
    const outside = frames.filter((line) => !/[\\/]src[\\/]|<anonymous>|node:internal/.test(line));
    expect(outside[0]).toMatch(/(misuses\.test|misuse[\\/]\w+)\.ts/);
  });
});
