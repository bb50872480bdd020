import { ConnectionError, NotFoundError, UnexpectedResponseError } from 'postreel';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { passingDelayMs } from '../../src/core/wait.js';
import { poll, type Check, type PollPlan } from '../../src/core/wait.js';
import { settledInTime } from '../support/settled.js';

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

const passing = new ConnectionError('lost', { code: 'CONNECTION_LOST' });

describe('a poll', () => {
  it('checks until there is a result', async () => {
    const statuses = ['queued', 'running', 'done'];
    const plan = planOf({ check: () => Promise.resolve(statuses.shift() ?? '') });
    expect(await settledInTime(() => poll(plan))).toMatchObject({ value: 'done' });
    expect(statuses).toEqual([]);
  });

  it('reports every check, the last one without a next', async () => {
    const statuses = ['queued', 'queued', 'done'];
    const reports: [number, string | undefined, boolean, number][] = [];
    const report = ({ attempt, status, changed }: Check<string>, next: number) =>
      reports.push([attempt, status, changed, next]);
    const check = () => Promise.resolve(statuses.shift() ?? '');
    await settledInTime(() => poll(planOf({ check, report })));
    expect(reports).toEqual([
      [1, 'queued', false, 5],
      [2, 'queued', false, 5],
      [3, 'done', true, 0],
    ]);
  });

  it('reports the check that ends it in failure', async () => {
    const report = vi.fn();
    const plan = planOf({ check: () => Promise.resolve('failed'), report });
    await expect(poll(plan)).rejects.toThrow('it failed');
    expect(report).toHaveBeenCalledWith(expect.objectContaining({ status: 'failed' }), 0);
  });

  it('sleeps before the first check when the job is young', async () => {
    const { tookMs } = await settledInTime(() => poll(planOf({ firstDelayMs: 80 })));
    expect(tookMs).toBe(80);
  });

  it('ends with its last status when the time is up', async () => {
    const plan = planOf({ check: () => Promise.resolve('running'), timeoutMs: 60 });
    const { error, tookMs } = await settledInTime(() => poll(plan));
    expect((error as Error).message).toMatch(/^time is up at running after \d+ checks$/);
    expect(tookMs).toBe(60);
  });

  it('ends on time even when a check does not, and lets go of that check', async () => {
    let signal: AbortSignal | undefined;
    const check = (until: AbortSignal) => {
      signal = until;
      return new Promise<string>(() => undefined);
    };
    const { error, tookMs } = await settledInTime(() => poll(planOf({ check, timeoutMs: 60 })));
    expect(error).toMatchObject({ message: 'time is up at none after 1 checks' });
    expect(tookMs).toBe(60);
    expect(signal?.aborted).toBe(true);
  });

  it('goes on after a check that failed in a way that may pass', async () => {
    const check = vi.fn<() => Promise<string>>().mockResolvedValue('done');
    check.mockRejectedValueOnce(passing).mockRejectedValueOnce(passing);
    const failures: number[] = [];
    const passingDelay = (_: unknown, count: number) => (failures.push(count), 1);
    const plan = planOf({ check, passingDelayMs: passingDelay });
    expect(await settledInTime(() => poll(plan))).toMatchObject({ value: 'done' });
    expect(failures).toEqual([1, 2]);
  });

  it('counts failures anew after a check that went well', async () => {
    const check = vi.fn<() => Promise<string>>().mockResolvedValue('done');
    check.mockRejectedValueOnce(passing).mockResolvedValueOnce('running');
    check.mockRejectedValueOnce(passing);
    const failures: number[] = [];
    const passingDelay = (_: unknown, count: number) => (failures.push(count), 1);
    await settledInTime(() => poll(planOf({ check, passingDelayMs: passingDelay })));
    expect(failures).toEqual([1, 1]);
  });

  it('ends with the error of a check that stays', async () => {
    const error = new NotFoundError('gone');
    const plan = planOf({ check: () => Promise.reject(error), passingDelayMs: () => undefined });
    await expect(poll(plan)).rejects.toBe(error);
    await expect(poll(planOf({ check: () => Promise.reject(error) }))).rejects.toBe(error);
  });

  it('does not check at all when it was aborted before', async () => {
    const check = vi.fn(() => Promise.resolve('done'));
    const signal = AbortSignal.abort('enough');
    await expect(poll(planOf({ check, signal }))).rejects.toBe('enough');
    expect(check).not.toHaveBeenCalled();
  });

  it.each([
    ['between two checks', () => Promise.resolve('running'), 60_000],
    ['while it checks', () => new Promise<string>(() => undefined), 1],
  ])('hears an abort %s', async (_, check, nextMs) => {
    const controller = new AbortController();
    const plan = planOf({ check, nextDelayMs: () => nextMs, signal: controller.signal });
    setTimeout(() => controller.abort('enough'), 30);
    const { error, tookMs } = await settledInTime(() => poll({ ...plan, timeoutMs: 60_000 }));
    expect(error).toBe('enough');
    expect(tookMs).toBe(30);
  });

  it('checks before its time when there is news', async () => {
    let tell: () => void = () => undefined;
    const onNews = (listener: () => void) => {
      tell = listener;
      return () => undefined;
    };
    const statuses = ['running', 'done'];
    const check = () => Promise.resolve(statuses.shift() ?? '');
    const plan = planOf({ check, onNews, nextDelayMs: () => 60_000, timeoutMs: 120_000 });
    setTimeout(() => tell(), 30);
    const { value, tookMs } = await settledInTime(() => poll(plan));
    expect(value).toBe('done');
    expect(tookMs).toBe(30);
  });
});

describe('a check that failed', () => {
  const failure = (facts: object) => Object.assign(new ConnectionError('x', { code: 'X' }), facts);

  it.each([408, 429, 500, 503])('with %i may pass', (status) => {
    expect(passingDelayMs(failure({ status }), 1, 100)).toBe(100);
  });

  it.each([400, 401, 403, 404, 409, 422])('with %i stays', (status) => {
    expect(passingDelayMs(failure({ status }), 1, 100)).toBeUndefined();
  });

  it.each([
    [{ code: 'UNEXPECTED_RESPONSE', status: 200 }, true], // a hotel's page, say
    [{ code: 'UNEXPECTED_RESPONSE', status: 299 }, true],
    [{ code: 'UNEXPECTED_RESPONSE', status: 302 }, false], // redirects stay
    [{ code: 'UNEXPECTED_RESPONSE', status: 300 }, false],
    [{ code: 'SAYS_NO', status: 200 }, false],
  ])('with %j may pass: %s', (facts, mayPass) => {
    const error = Object.assign(new UnexpectedResponseError('x'), facts);
    expect(passingDelayMs(error, 1, 100)).toBe(mayPass ? 100 : undefined);
  });

  it('with an answer that cannot be read and no status stays', () => {
    const error = new UnexpectedResponseError('x', { code: 'UNEXPECTED_RESPONSE' });
    expect(passingDelayMs(error, 1, 100)).toBeUndefined();
  });

  it('without a connection may pass', () => {
    expect(passingDelayMs(passing, 1, 100)).toBe(100);
  });

  it('with an error of somebody else stays', () => {
    expect(passingDelayMs(new Error('bug'), 1, 100)).toBeUndefined();
  });

  it('is followed by longer and longer waits, up to a minute', () => {
    const waits = [1, 2, 3, 4, 50].map((count) => passingDelayMs(passing, count, 2_000));
    expect(waits).toEqual([2_000, 4_000, 8_000, 16_000, 60_000]);
  });

  it('is followed by the wait that the service asks for, when that is longer', () => {
    const error = failure({ status: 429, retryAfterMs: 90_000 });
    expect(passingDelayMs(error, 1, 2_000)).toBe(90_000);
    expect(passingDelayMs(failure({ status: 429, retryAfterMs: 1 }), 1, 2_000)).toBe(2_000);
  });
});

function planOf(facts: Partial<PollPlan<string, string>>): PollPlan<string, string> {
  return {
    check: () => Promise.resolve('done'),
    statusOf: (record) => record,
    finish({ status }) {
      if (status === 'failed') {
        throw new Error('it failed');
      }
      return status === 'done' ? { result: 'done' } : undefined;
    },
    nextDelayMs: () => 5,
    refusedDelayMs: 5,
    timeoutError: (last, polls) =>
      new Error(`time is up at ${last?.status ?? 'none'} after ${polls} checks`),
    timeoutMs: 60_000,
    firstDelayMs: 0,
    signal: undefined,
    ...facts,
  };
}
