import type { MessagingClient, MessagingOptions } from 'postreel';
import { createFakeMessaging, type FakeMessaging } from 'postreel/testing';
import { messagingOver } from '../clients.js';

/** The fate of a request: whether it arrives, and whether its response does. */
export const fates = [
  'ok',
  'lost',
  'refused',
  'failed',
  'unconnected',
  'wrong key',
  'abort before',
  'abort after',
] as const;
export type Fate = (typeof fates)[number];

export interface Fated {
  readonly fake: FakeMessaging;
  readonly messaging: MessagingClient;
  readonly controller: AbortController;
}

/** A client of a fake whose requests have fates, the first one's first; then all go well. */
export function fated(
  plan: readonly Fate[],
  { jobs, ...options }: MessagingOptions & { jobs?: JobShape | undefined } = {},
): Fated {
  const fake = createFakeMessaging({
    clock: { mode: 'real', speed: 1000 },
    jobs: { perSecond: 1e6 },
  });
  const { secretKey: apiKey, baseUrl } = fake;
  const controller = new AbortController();
  let requests = 0;
  const fetch: typeof fake.fetch = (input, init) => {
    const fate = plan[requests++] ?? 'ok';
    const act = async () => {
      const answer = await fake.fetch(input, init);
      return jobs ? reshaped(answer, input, jobs) : answer;
    };
    return answerOf(fate, act, { controller, signal: init?.signal });
  };
  // The client goes by the time of the fake.
  Object.defineProperties(fetch, Object.getOwnPropertyDescriptors(fake.fetch));
  const messaging = messagingOver(fetch, { apiKey, baseUrl, retries: 0, ...options });
  return { fake, messaging, controller };
}

/** How a service tells the end of a job, from the record of the fake. */
export const jobShapes = {
  'as the fake tells it': (job) => job,
  'with `status`, and without `result`': ({ state, result, ...job }) => ({
    ...job,
    status: state,
    ...(result as object),
  }),
  'without the counts of successes': ({ result, ...job }) => {
    const { failureCount, errors } = (result ?? {}) as Record<string, unknown>;
    return result ? { ...job, result: { failureCount, errors } } : job;
  },
  'with rows of data': withErrors((errors) =>
    errors.map(({ row, ...error }) => ({
      ...error,
      ...(row !== undefined && { row: Number(row) - 1 }),
    })),
  ),
  'with rows that are not numbered': withErrors((errors) =>
    errors.map((error) => without(error, 'row')),
  ),
  'with rows that are not named': withErrors((errors) =>
    errors.map((error) => without(error, 'email', 'contactId')),
  ),
  'with a list of errors that is cut': withErrors((errors) => errors.slice(0, 1)),
  'with counts in other words': ({ result, ...job }) => {
    const { successCount, failureCount } = (result ?? {}) as Record<string, unknown>;
    return result ? { ...job, result: { good: successCount, bad: failureCount } } : job;
  },
  'as failed, with its counts': ({ state, ...job }) =>
    state === 'completed'
      ? { ...job, state: 'failed', failedReason: 'Out of memory' }
      : { ...job, state },
  'as failed, without a word': ({ state, result, ...job }) =>
    state === 'completed' ? { ...job, state: 'failed' } : { ...job, state, result },
} satisfies Record<string, (job: JobRecord) => JobRecord>;
export type JobShape = keyof typeof jobShapes;

type JobRecord = Record<string, unknown>;

function without(record: JobRecord, ...names: readonly string[]): JobRecord {
  return Object.fromEntries(Object.entries(record).filter(([name]) => !names.includes(name)));
}

function withErrors(change: (errors: readonly JobRecord[]) => readonly JobRecord[]) {
  return ({ result, ...job }: JobRecord): JobRecord => {
    const { errors = [], ...counts } = (result ?? {}) as { errors?: readonly JobRecord[] };
    return result ? { ...job, result: { ...counts, errors: change(errors) } } : job;
  };
}

async function reshaped(answer: Response, input: unknown, shape: JobShape): Promise<Response> {
  const { pathname } = new URL(input instanceof Request ? input.url : String(input));
  if (!answer.ok || !/^\/contacts\/(bulk|import)\/./.test(pathname)) {
    return answer;
  }
  return Response.json(jobShapes[shape]((await answer.json()) as JobRecord));
}

async function answerOf(
  fate: Fate,
  act: () => Promise<Response>,
  { controller, signal }: { controller: AbortController; signal: AbortSignal | null | undefined },
): Promise<Response> {
  const statuses: Partial<Record<Fate, number>> = { refused: 400, 'wrong key': 401, failed: 500 };
  const status = statuses[fate];
  if (status !== undefined) {
    return Response.json({ error: 'no' }, { status });
  }
  if (fate === 'unconnected') {
    const cause = Object.assign(new Error(), { code: 'ECONNREFUSED' });
    throw new TypeError('fetch failed', { cause });
  }
  if (fate === 'abort before') {
    controller.abort(new Error('enough'));
    signal?.throwIfAborted();
  }
  const answer = await act();
  if (fate === 'abort after') {
    controller.abort(new Error('enough'));
  }
  if (fate === 'lost') {
    throw new TypeError('fetch failed');
  }
  return answer;
}
