import { inspect } from 'node:util';
import { InvalidRequestError, isPostreelError, PartialError } from 'postreel';
import { describe, expect, it } from 'vitest';

const result = {
  done: 2,
  failed: [{ row: 'bad@example.com', index: 2, error: new Error('no') }],
  unknown: [{ row: 'lost@example.com', index: 3, error: new Error('lost') }],
  notReached: 6,
  resumeFrom: 4,
};

describe('PartialError', () => {
  const cause = new InvalidRequestError('The key was refused.');
  const error = new PartialError('contacts.deleteAll()', result, cause);

  it('says how far the call came, where to go on and why it ended', () => {
    expect(error.message).toBe(
      '`contacts.deleteAll()` ended before row 4: 2 done, 1 failed, 1 unknown. ' +
        'Go on with `{ from: 4 }`. The key was refused.',
    );
    expect(error).toMatchObject({ code: 'PARTIAL_RESULT', cause });
    expect(isPostreelError(error)).toBe(true);
  });

  it('keeps the message of a foreign cause out of its own', () => {
    const foreign = new PartialError('contacts.deleteAll()', result, new Error('secret'));
    expect(foreign.message).not.toContain('secret');
    expect(foreign.cause).toEqual(new Error('secret'));
  });

  it('has the report, and writes only its counts to a log', () => {
    expect(error.result).toBe(result);
    expect(error.toJSON()).toMatchObject({ done: 2, failed: 1, unknown: 1, notReached: 6 });
    expect(JSON.stringify(error)).not.toContain('example.com');
    expect(inspect(error)).not.toContain('example.com');
  });
});
