import { setupServer } from 'msw/node';
import type { FakeMedia, FakeMessaging } from 'postreel/testing';
import { afterAll, afterEach } from 'vitest';

type Fetch = (input: string | URL | Request, init?: RequestInit) => Promise<Response>;

const network = setupServer();
let isListening = false;
let settingUp = 0;
let underWay = 0;
/** Answers may be unpacked in another thread. */
let longestWayMs = 10;

afterEach(() => {
  network.resetHandlers();
});

afterAll(() => {
  network.close();
  isListening = false;
});

/** Puts a fake behind the global `fetch` by its MSW handlers, as users of the package do. */
export function intercepted(fake: FakeMedia | FakeMessaging): Fetch {
  const ready = intercept(fake);
  return tracked(async (input, init) => {
    await ready;
    return fetch(input, init);
  });
}

/** The same `fetch`, but time does not move while an answer is on its way. */
export function tracked(over: Fetch, longestMs = 10): Fetch {
  longestWayMs = longestMs;
  return async (input, init) => {
    underWay++;
    try {
      return await over(input, init);
    } finally {
      underWay--;
    }
  };
}

/** Waits for the answers that are on their way, but not for those that never come. */
export async function answersArrive(): Promise<void> {
  const endsAt = process.hrtime.bigint() + BigInt(longestWayMs) * 1_000_000n; // a clock that no test turns
  const isOnItsWay = (turn: number) =>
    underWay > 0 && (turn < 30 || process.hrtime.bigint() < endsAt);
  for (let turn = 0; turn < 3 || settingUp > 0 || isOnItsWay(turn); turn++) {
    await new Promise((resolve) => setImmediate(resolve));
  }
}

async function intercept(fake: FakeMedia | FakeMessaging): Promise<void> {
  settingUp++;
  network.use(...(await fake.handlers()));
  if (!isListening) {
    network.listen({ onUnhandledRequest: 'error' });
  }
  isListening = true;
  settingUp--;
}
