import { setupServer } from 'msw/node';
import type { FakeMedia, FakeMessaging } from 'postreel/testing';
import { afterAll, afterEach } from 'vitest';

type Fetch = (input: string | URL | Request, init?: RequestInit) => Promise<Response>;

const network = setupServer();
let isListening = false;
let settingUp = 0;
let underWay = 0;

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
  return async (input, init) => {
    underWay++;
    try {
      await ready;
      return await fetch(input, init);
    } finally {
      underWay--;
    }
  };
}

/** Waits for the answers that are on their way, but not for those that never come. */
export async function answersArrive(): Promise<void> {
  for (let turn = 0; turn < 3 || settingUp > 0 || (underWay > 0 && turn < 30); turn++) {
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
