import { isPostreelError, type Outcome } from 'postreel';
import type { Fault } from 'postreel/testing';
import { afterEach, expect, it, vi } from 'vitest';
import { serve } from '../support/fake-server.js';
import { countEffects, startCall } from '../support/transport/chaos-calls.js';

const calls = 10_000;
const atOnce = 50;
const abortShare = 0.03;

/** Faults and their probabilities; faults that take long are rare. */
const faults: readonly (Fault & { probability: number })[] = [
  { drop: true, probability: 0.03 },
  { loseAnswer: true, probability: 0.04 },
  { truncate: true, probability: 0.03 },
  { malformed: true, probability: 0.02 },
  { html: true, probability: 0.02 },
  { status: 500, probability: 0.02 },
  { status: 503, retryAfter: 0, probability: 0.02 },
  { status: 408, probability: 0.01 },
  { status: 429, retryAfter: 0, probability: 0.04 },
  { slow: 20, probability: 0.03 },
  { stall: true, probability: 0.001 },
  { hang: true, probability: 0.001 },
];

interface Ending {
  readonly kind: string;
  readonly effect: string | undefined;
  readonly error: unknown;
  readonly outcome: Outcome | undefined;
  readonly isAbort: boolean;
}

afterEach(() => {
  vi.restoreAllMocks();
});

it('ten thousand calls through every kind of fault happen at most once, and report when they may have happened', async () => {
  const { messaging, media, fake, fakeMedia, server } = await serve({
    messaging: { rateLimit: { limit: Number.POSITIVE_INFINITY } },
    media: { rateLimit: false, pendingLimit: Number.POSITIVE_INFINITY },
  });
  for (const fault of faults) {
    fake.fail('*', { ...fault, times: calls });
    fakeMedia.fail('*', { ...fault, times: calls });
  }
  // Retries wait up to half a second; here up to a hundredth of that.
  const { random } = Math;
  vi.spyOn(Math, 'random').mockImplementation(() => random() / 100);
  const options = { rateLimit: false, timeout: 2_000 } as const;
  const clients = { messaging: messaging(options), media: media(options) };
  const endings: Ending[] = [];
  let next = 0;
  await Promise.all(
    Array.from({ length: atOnce }, async () => {
      while (next < calls) {
        endings.push(await runOne(clients, next++, random));
      }
    }),
  );
  // Once the server is closed, requests that were still running when their caller gave up have
  // ended.
  await server.close();

  expect(endings).toHaveLength(calls);
  const counts = countEffects(fake, fakeMedia);
  const twice = [...counts].filter(([name, count]) => count > 1 && !/^(ann|bea)$/.test(name));
  expect(twice).toEqual([]);
  expect(endings.filter(isContradicted(counts))).toEqual([]);
  expect(
    endings.filter(({ error, isAbort }) => error && !isAbort && !isPostreelError(error)),
  ).toEqual([]);
  expectEveryOutcome(endings);
}, 240_000);

async function runOne(
  clients: Parameters<typeof startCall>[0],
  number: number,
  random: () => number,
): Promise<Ending> {
  const controller = new AbortController();
  const reason = { number };
  const { kind, call, effect } = startCall(clients, number, controller.signal);
  const timer =
    random() < abortShare ? setTimeout(() => controller.abort(reason), random() * 30) : undefined;
  const error: unknown = await call.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  clearTimeout(timer);
  const { outcome } = call;
  if (isPostreelError(error)) {
    expect(error.outcome).toBe(outcome);
  }
  return { kind, effect, error, outcome, isAbort: error === reason };
}

/** Whether the reported outcome of the call contradicts the service's records. */
function isContradicted(counts: ReadonlyMap<string, number>) {
  return ({ effect, error, outcome }: Ending): boolean => {
    if (effect === undefined || effect.startsWith('bulk')) {
      return false;
    }
    const count = counts.get(effect) ?? 0;
    if (error === undefined) {
      return count !== 1;
    }
    return outcome === 'unknown' ? count > 1 : count !== 0;
  };
}

/** Expects every outcome in the run: a run without failures would prove nothing. */
function expectEveryOutcome(endings: readonly Ending[]): void {
  const tally = (test: (ending: Ending) => boolean) => endings.filter(test).length;
  expect(tally(({ error }) => error === undefined)).toBeGreaterThan(calls / 2);
  expect(tally(({ outcome }) => outcome === 'unknown')).toBeGreaterThan(calls / 50);
  expect(tally(({ isAbort }) => isAbort)).toBeGreaterThan(0);
}
