import { inspect } from 'node:util';
import {
  ApiError,
  AuthenticationError,
  BadRequestError,
  ConfigurationError,
  ConflictError,
  ConnectionError,
  GenerationCanceledError,
  GenerationFailedError,
  InvalidRequestError,
  isApiError,
  isPostreelError,
  JobFailedError,
  MessagingClient,
  NotFoundError,
  PartialError,
  PermissionError,
  PostreelError,
  RateLimitError,
  ServerError,
  TimeoutError,
  UnexpectedResponseError,
  UnprocessableError,
  WaitError,
  WaitTimeoutError,
} from 'postreel';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { removeOwnFrames } from '../../src/core/errors.js';
import { answering, mediaOver, messagingOver } from '../support/clients.js';

const mail = { from: 'shop@example.com', to: 'ann@example.com', subject: 'Hi', body: 'Hi' };
const ofTheService = {
  BadRequestError,
  AuthenticationError,
  PermissionError,
  NotFoundError,
  ConflictError,
  UnprocessableError,
  RateLimitError,
  ServerError,
};
const ofOurs = {
  ConfigurationError,
  ConnectionError,
  InvalidRequestError,
  TimeoutError,
  UnexpectedResponseError,
};

describe.each(Object.entries({ ...ofTheService, ...ofOurs }))('%s', (name, ErrorClass) => {
  it('is an instance of Error, its bases and itself, and of no sibling', () => {
    const error = new ErrorClass('What happened.', { code: 'X' });
    expect(error).toBeInstanceOf(Error);
    expect(error).toBeInstanceOf(PostreelError);
    expect(isPostreelError(error)).toBe(true);
    expect(isApiError(error)).toBe(name in ofTheService);
    const classes = Object.entries({ ...ofTheService, ...ofOurs });
    const own = classes.filter(([, Class]) => error instanceof Class).map(([other]) => other);
    expect(own).toEqual([name]);
    expect(String(error)).toBe(`${name}: What happened.`);
    expect(error.stack).toContain('errors.test.ts');
  });
});

it.each([
  [400, BadRequestError],
  [401, AuthenticationError],
  [402, ApiError],
  [403, PermissionError],
  [404, NotFoundError],
  [409, ConflictError],
  [418, ApiError],
  [422, UnprocessableError],
  [429, RateLimitError],
  [500, ServerError],
  [503, ServerError],
  [599, ServerError],
])('a %i has its class', async (status, ErrorClass) => {
  const { fetch } = answering(() => new Response(null, { status }));
  const { error } = await messagingOver(fetch, { retries: 0 }).contacts.get('con_1').safe();
  expect(error?.constructor).toBe(ErrorClass);
  expect(error).toMatchObject({ status, code: `HTTP_${status}` });
});

describe('instanceof and the guards', () => {
  it('recognize errors of another copy of the package', async () => {
    vi.resetModules();
    const other = await import('postreel');
    const stranger = new other.NotFoundError('gone', { code: 'X' });
    expect(other.NotFoundError).not.toBe(NotFoundError);
    expect(stranger).toBeInstanceOf(NotFoundError);
    expect(stranger).toBeInstanceOf(ApiError);
    expect(stranger).not.toBeInstanceOf(ServerError);
    expect(isApiError(stranger)).toBe(true);
  });

  it('use the prototype chain for subclasses of users', () => {
    class ShopError extends NotFoundError {}
    expect(new ShopError('gone')).toBeInstanceOf(NotFoundError);
    expect(new NotFoundError('gone')).not.toBeInstanceOf(ShopError);
  });

  it.each([undefined, null, 'PostreelError', {}, new Error('x'), { name: 'ApiError' }])(
    'take %o for none of ours',
    (value) => {
      expect(isPostreelError(value) || isApiError(value)).toBe(false);
      expect((value as unknown) instanceof PostreelError).toBe(false);
    },
  );
});

describe('the facts of an error', () => {
  const cause = Object.assign(new Error('the cause'), { code: 'ECONNRESET' });
  const details = {
    code: 'VALIDATION_ERROR',
    status: 422,
    requestId: 'req_1',
    fieldErrors: [{ field: 'to', message: 'is required' }],
    suggestion: 'Add it.',
    outcome: 'rejected' as const,
    retryAfterMs: 1_000,
    method: 'POST',
    path: '/v1/send',
  };

  it('are in its fields, and in toJSON() with its causes, without a stack', () => {
    const error = new ApiError('No.', { ...details, cause });
    expect(error).toMatchObject({ ...details, cause });
    expect(JSON.parse(JSON.stringify(error))).toEqual({
      name: 'ApiError',
      message: 'No.',
      ...details,
      cause: { name: 'Error', message: 'the cause', code: 'ECONNRESET' },
    });
  });

  it('are only those that are known, also when it is printed', () => {
    const error = new PostreelError('Failed.', { code: 'SOME_CODE', status: 500 });
    expect(Object.keys(error)).toEqual(['code', 'status']);
    expect(inspect(error)).not.toMatch(/undefined|fieldErrors/);
    expect([error.retryAfterMs, error.fieldErrors, 'cause' in error]).toEqual([
      undefined,
      [],
      false,
    ]);
    const { fieldErrors } = details;
    expect(inspect(new PostreelError('Failed.', { fieldErrors }))).toContain('is required');
  });

  it('make a message of one line', () => {
    expect(new PostreelError('one\n\u001b[31mtwo').message).toBe('one [31mtwo');
  });
});

describe('errors that end a wait', () => {
  const details = { id: 'file_1', lastStatus: 'processing', elapsedMs: 1_500, polls: 3 };

  it.each([
    ['GENERATION_FAILED', GenerationFailedError],
    ['GENERATION_CANCELED', GenerationCanceledError],
    ['WAIT_TIMEOUT', WaitTimeoutError],
  ])('%s has the facts of the wait, and resumes it', async (code, ErrorClass) => {
    const resume = vi.fn(() => Promise.resolve('file'));
    const record = { hidden: 'of the service' };
    const error = new ErrorClass('Over.', { ...details, resume, record });
    expect(error).toBeInstanceOf(WaitError);
    expect(error).toMatchObject({
      code,
      fileId: 'file_1',
      lastStatus: 'processing',
      polls: 3,
      record,
    });
    await expect(error.resume({ timeout: 5 })).resolves.toBe('file');
    expect(resume).toHaveBeenCalledWith({ timeout: 5 });
    expect(JSON.parse(JSON.stringify(error))).toMatchObject({ fileId: 'file_1', elapsedMs: 1_500 });
    expect(inspect(error)).not.toContain('of the service');
  });

  it('of a job keep its last record', () => {
    const job = { status: 'failed' };
    const error = new JobFailedError('Over.', { jobId: 'job_1', job });
    expect(error).toMatchObject({
      name: 'JobFailedError',
      code: 'JOB_FAILED',
      jobId: 'job_1',
      job,
    });
  });
});

describe('the error of many rows that ended early', () => {
  const result = {
    done: 2,
    failed: [{ row: 'bad@example.com', index: 2, error: new Error('no') }],
    unknown: [{ row: 'lost@example.com', index: 3, error: new Error('lost') }],
    notReached: 6,
    resumeFrom: 4,
  };

  it('says how far the call came, where to continue and why it ended', () => {
    const cause = new InvalidRequestError('The key was refused.');
    const error = new PartialError('contacts.deleteAll()', result, cause);
    expect(error.message).toBe(
      '`contacts.deleteAll()` ended before row 4: 2 done, 1 failed, 1 unknown. ' +
        'Continue with `{ from: 4 }`. The key was refused.',
    );
    expect(error).toMatchObject({ code: 'PARTIAL_RESULT', cause });
    expect(error.result).toBe(result);
  });

  it('writes only counts to a log', () => {
    const error = new PartialError('contacts.deleteAll()', result, new Error('no'));
    expect(error.toJSON()).toMatchObject({ done: 2, failed: 1, unknown: 1, notReached: 6 });
    expect(JSON.stringify(error) + inspect(error)).not.toContain('example.com');
  });

  it('contains the reason of a failure outside of the package, without a password', () => {
    const cause = new Error('connect ECONNREFUSED postgres://ann:s3cret@db.test:5432');
    const { message } = new PartialError('contacts.deleteAll()', result, cause);
    expect(message).toContain('The reason: connect ECONNREFUSED postgres://db.test:5432');
    expect(message).not.toContain('s3cret');
  });

  it('counts the rows that were skipped', () => {
    const skipped = [{ row: 'cid@example.com', index: 0 }];
    const error = new PartialError('sendEach()', { ...result, skipped }, new Error('no'));
    expect(error.message).toContain('2 done, 1 failed, 1 unknown, 1 skipped');
    expect(error.toJSON()).toMatchObject({ skipped: 1 });
  });
});

describe('the stack of an error leads to the line of the user', () => {
  const limit = Error.stackTraceLimit;
  afterEach(() => {
    Error.stackTraceLimit = limit;
  });

  const gone = answering(() => new Response(null, { status: 404 })).fetch;
  const lost = () => Promise.reject(new TypeError('fetch failed'));
  const messaging = messagingOver(gone, { retries: 0 });
  const media = mediaOver(gone, { retries: 0 });
  const calls = {
    userGets: async function userGets() {
      await messaging.contacts.get('con_1');
    },
    userLists: async function userLists() {
      await messaging.contacts.list();
    },
    userRequests: async function userRequests() {
      await messaging.request('GET', '/other');
    },
    userLosesTheConnection: async function userLosesTheConnection() {
      await messagingOver(lost, { retries: 0 }).send(mail);
    },
    userGivesBadInput: async function userGivesBadInput() {
      await messaging.send({ ...mail, to: 'nobody' });
    },
    userNamesNoId: async function userNamesNoId() {
      await messaging.contacts.get('');
    },
    userConfigures: function userConfigures() {
      new MessagingClient({ baseUrl: 'nowhere', apiKey: 'sk_x' });
    },
    userWaits: async function userWaits() {
      await media.waitForFile('file_1');
    },
  };

  it.each(Object.entries(calls))('%s', async (name, call) => {
    const error: unknown = await Promise.resolve()
      .then(call)
      .catch((failure: unknown) => failure);
    const { stack = '', message } = error as Error;
    const lines = stack.split('\n').filter((line) => /^\s+at /.test(line));
    const outside = lines.find((line) => !/[\\/]src[\\/]/.test(line));
    expect(outside).toMatch(new RegExp(`${name}|errors\\.test`));
    expect(stack).toContain(message);
  });

  it('and begins with it, without the frames of the installed package', () => {
    const frames = [
      '    at Contacts.create (file:///app/node_modules/postreel/dist/esm/chunk-1.js:1:1)',
      '    at Object.<anonymous> (C:\\app\\node_modules\\postreel\\dist\\cjs\\chunk-2.cjs:1:1)',
      '    at main (file:///app/postreel/src/main.js:3:7)',
    ];
    expect(removeOwnFrames(frames)).toEqual(frames.slice(2));
  });

  it("and does not change the program's stack limit or the reason of an abort", async () => {
    Error.stackTraceLimit = 3;
    const reason = new Error('enough');
    const { stack } = reason;
    const call = messaging.contacts.get('con_1', { signal: AbortSignal.abort(reason) });
    await expect(call).rejects.toBe(reason);
    expect([Error.stackTraceLimit, reason.stack]).toEqual([3, stack]);
  });
});

describe('a bug of the caller', () => {
  it('in a getter is an InvalidRequestError with the thrown error as its cause', async () => {
    const body = {
      get email(): string {
        throw new RangeError('of the caller');
      },
    };
    const { fetch, requests } = answering(() => ({}));
    const { error } = await messagingOver(fetch).request('POST', '/contacts', { body }).safe();
    expect(error).toMatchObject({
      code: 'INVALID_REQUEST',
      outcome: 'not-sent',
      path: '/contacts',
    });
    expect(error?.cause).toBeInstanceOf(RangeError);
    expect(requests).toEqual([]);
  });

  it('a list that is read without `await` names the two ways to read it', () => {
    const list = messagingOver(fetch).contacts.list() as unknown as Iterable<unknown>; // without types
    const words = /`for await \(const item of list\)` or `await list\.toArray\(\)`/;
    expect(() => [...list]).toThrow(words);
  });
});
