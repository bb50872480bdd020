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
  NotFoundError,
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
import { WebhookVerificationError } from 'postreel/webhooks';
import { describe, expect, it, vi } from 'vitest';
import { answering, messagingOver } from '../support/clients.js';

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
  const error = new ErrorClass('What happened.', { code: 'X' });

  it('is an Error, a PostreelError and itself', () => {
    expect(error).toBeInstanceOf(Error);
    expect(error).toBeInstanceOf(PostreelError);
    expect(error).toBeInstanceOf(ErrorClass);
    expect(isPostreelError(error)).toBe(true);
  });

  it('has its name, its message and a stack', () => {
    expect(error.name).toBe(name);
    expect(String(error)).toBe(`${name}: What happened.`);
    expect(error.stack).toContain('errors.test.ts');
    expect(Object.keys(error)).not.toContain('name');
  });

  it('is of the service exactly when an answer brought it', () => {
    expect(isApiError(error)).toBe(name in ofTheService);
    expect(error instanceof ApiError).toBe(name in ofTheService);
  });

  it('is no sibling of its kind', () => {
    for (const [other, Other] of Object.entries({ ...ofTheService, ...ofOurs })) {
      if (other !== name) {
        expect(error).not.toBeInstanceOf(Other);
      }
    }
  });
});

describe('each status', () => {
  it.each([
    [400, BadRequestError],
    [401, AuthenticationError],
    [403, PermissionError],
    [404, NotFoundError],
    [409, ConflictError],
    [422, UnprocessableError],
    [429, RateLimitError],
    [500, ServerError],
    [503, ServerError],
    [599, ServerError],
    [402, ApiError],
    [418, ApiError],
  ])('%i is its own error', async (status, ErrorClass) => {
    const { fetch } = answering(() => new Response(null, { status }));
    const error: unknown = await messagingOver(fetch, { retries: 0 })
      .contacts.get('con_1')
      .catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ErrorClass);
    expect((error as Error).constructor).toBe(ErrorClass);
    expect(error).toMatchObject({ status, code: `HTTP_${status}` });
  });
});

describe('instanceof and the guards', () => {
  it('know errors of another copy of the package', async () => {
    vi.resetModules();
    const other = await import('postreel');
    const stranger = new other.NotFoundError('gone', { code: 'X' });
    expect(other.NotFoundError).not.toBe(NotFoundError);
    expect(stranger).toBeInstanceOf(NotFoundError);
    expect(stranger).toBeInstanceOf(ApiError);
    expect(stranger).not.toBeInstanceOf(ServerError);
    expect(isApiError(stranger)).toBe(true);
    expect(new NotFoundError('gone')).toBeInstanceOf(other.PostreelError);
  });

  it('leave classes that users derive to the prototype chain', () => {
    class ShopError extends NotFoundError {}
    const own = new ShopError('gone');
    expect(own).toBeInstanceOf(ShopError);
    expect(own).toBeInstanceOf(NotFoundError);
    expect(new NotFoundError('gone')).not.toBeInstanceOf(ShopError);
    expect(Object.create(null) instanceof ShopError).toBe(false);
    expect(('text' as unknown) instanceof ShopError).toBe(false);
  });

  it.each([undefined, null, 'PostreelError', 42, {}, [], new Error('x'), { name: 'ApiError' }])(
    'take %o for none of ours',
    (value) => {
      expect(isPostreelError(value)).toBe(false);
      expect(isApiError(value)).toBe(false);
      expect((value as unknown) instanceof PostreelError).toBe(false);
    },
  );
});

describe('what an error says about itself', () => {
  const cause = new Error('the cause');
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

  it('is in its fields', () => {
    expect(new ApiError('No.', { ...details, cause })).toMatchObject({ ...details, cause });
  });

  it('is in toJSON() with its causes, without any stack', () => {
    const json: unknown = JSON.parse(JSON.stringify(new ApiError('No.', { ...details, cause })));
    const told = { name: 'Error', message: 'the cause' };
    expect(json).toEqual({ name: 'ApiError', message: 'No.', ...details, cause: told });
  });

  it('may be next to nothing', () => {
    const error = new PostreelError('No.');
    expect(error).toMatchObject({ code: 'POSTREEL_ERROR', fieldErrors: [] });
    expect('cause' in error).toBe(false);
    expect(JSON.parse(JSON.stringify(error))).toEqual({
      name: 'PostreelError',
      message: 'No.',
      code: 'POSTREEL_ERROR',
    });
  });
});

describe('errors that end a wait', () => {
  const details = { id: 'file_1', lastStatus: 'processing', elapsedMs: 1_500, polls: 3 };

  it.each([
    ['GENERATION_FAILED', 'GenerationFailedError', GenerationFailedError],
    ['GENERATION_CANCELED', 'GenerationCanceledError', GenerationCanceledError],
    ['WAIT_TIMEOUT', 'WaitTimeoutError', WaitTimeoutError],
  ])('%s knows what the wait has seen, and goes on with it', async (code, name, ErrorClass) => {
    const resume = vi.fn(() => Promise.resolve('file'));
    const error = new ErrorClass('Over.', { ...details, resume });
    expect(error).toBeInstanceOf(ErrorClass);
    expect(error).toBeInstanceOf(WaitError);
    expect(error.name).toBe(name);
    expect(error).toMatchObject({ code, fileId: 'file_1', lastStatus: 'processing', polls: 3 });
    await expect(error.resume({ timeout: 5 })).resolves.toBe('file');
    expect(resume).toHaveBeenCalledWith({ timeout: 5 });
    const json = JSON.parse(JSON.stringify(error)) as object;
    expect(json).toMatchObject({ name: error.name, fileId: 'file_1', elapsedMs: 1_500 });
  });

  it('of a job keep its last record', () => {
    const job = { status: 'failed' };
    const error = new JobFailedError('Over.', { jobId: 'job_1', job });
    expect(error).toBeInstanceOf(PostreelError);
    expect(error.name).toBe('JobFailedError');
    expect(error).toMatchObject({ code: 'JOB_FAILED', jobId: 'job_1', job });
  });
});

it('a callback that is refused says why', () => {
  const cause = new SyntaxError('no JSON');
  const error = new WebhookVerificationError('BODY_INVALID', 'The body is no JSON.', cause);
  expect(error).toBeInstanceOf(PostreelError);
  expect(error).toBeInstanceOf(WebhookVerificationError);
  expect(error).not.toBeInstanceOf(ApiError);
  expect(error).toMatchObject({ name: 'WebhookVerificationError', code: 'BODY_INVALID', cause });
});
