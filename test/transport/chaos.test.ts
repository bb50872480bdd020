import { isPostreelError, type Outcome } from 'postreel';
import type { Fault } from 'postreel/testing';
import { afterEach, expect, it, vi } from 'vitest';
import { serve } from '../support/fake-server.js';
import { countEffects, startCall } from '../support/transport/chaos-calls.js';

const calls = 10_000;
const atOnce = 50;
const abortShare = 0.03;

/** What strikes a request, and how likely; the ones that take long are rare. */
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

it('ten thousand calls through faults of every kind happen once, or say that they may have', async () => {
  const { messaging, media, fake, fakeMedia, server } = await serve({
    messaging: { rateLimit: { limit: Number.POSITIVE_INFINITY } },
    media: { rateLimit: false, pendingLimit: Number.POSITIVE_INFINITY },
  });
  for (const fault of faults) {
    fake.fail('*', { ...fault, times: calls });
    fakeMedia.fail('*', { ...fault, times: calls });
  }
  // The waits of retries are up to half a second long; here up to a hundredth of that.
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
  // What the service was still at work on when a caller went away has now happened.
  await server.close();

  expect(endings).toHaveLength(calls);
  const counts = countEffects(fake, fakeMedia);
  const twice = [...counts].filter(([name, count]) => count > 1 && !/^(ann|bea)$/.test(name));
  expect(twice).toEqual([]);
  expect(endings.filter(isLie(counts))).toEqual([]);
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

/** Did the call say something about its effect that the service's own records deny? */
function isLie(counts: ReadonlyMap<string, number>) {
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

/** A run in which nothing went wrong would prove nothing. */
function expectEveryOutcome(endings: readonly Ending[]): void {
  const tally = (test: (ending: Ending) => boolean) => endings.filter(test).length;
  expect(tally(({ error }) => error === undefined)).toBeGreaterThan(calls / 2);
  expect(tally(({ outcome }) => outcome === 'unknown')).toBeGreaterThan(calls / 50);
  expect(tally(({ isAbort }) => isAbort)).toBeGreaterThan(0);
}
