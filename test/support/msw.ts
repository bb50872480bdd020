import { http, type HttpHandler } from 'msw';
import { setupServer } from 'msw/node';
import { createFakeMessaging, type FakeMessaging } from 'postreel/testing';
import { afterAll, afterEach } from 'vitest';
import { furnish } from './furnished-project.js';

type Fetch = (input: string | URL | Request, init?: RequestInit) => Promise<Response>;

const network = setupServer();
let isListening = false;
/** The handler that is asked before all others. */
let inFront: HttpHandler | undefined;

afterEach(() => {
  network.resetHandlers();
  inFront = undefined;
});

afterAll(() => {
  network.close();
  isListening = false;
});

/** Puts a fake behind the global `fetch` by its MSW handlers, as users of the package do. */
async function intercept(fake: FakeMessaging): Promise<void> {
  network.use(...(await fake.handlers()));
  inFront = undefined;
  if (!isListening) {
    network.listen({ onUnhandledRequest: 'error' });
  }
  isListening = true;
}

/**
 * The fake of the messaging service behind the global `fetch`, with what is asked of it. An answer
 * that the fake would not give comes from a handler of the test's own, in front of the fake's.
 */
export function answering(answer?: (request: Request) => unknown) {
  const requests: Request[] = [];
  const fake = createFakeMessaging({ baseUrl: 'https://messaging.test' });
  furnish(fake);
  nameShortly(fake.project);
  const ready = intercept(fake);
  const own = http.all('*', async ({ request }) => {
    requests.push(request.clone());
    const result = await answer?.(request);
    return result === undefined || result instanceof Response ? result : Response.json(result);
  });
  const over: Fetch = async (input, init) => {
    await ready;
    // A test may have several clients, each with a separate service.
    if (inFront !== own) {
      network.use(own);
      inFront = own;
    }
    return fetch(input, init);
  };
  return { fetch: over, requests, fake };
}

/** The things of the fake under the ids that the tests of the resources call them by. */
function nameShortly(project: FakeMessaging['project']): void {
  project.secretKey = 'sk_test_key';
  const kinds = [
    [project.contacts, 'con_1'],
    [project.templates, 'tpl_welcome', 'tpl_1'],
    [project.campaigns, 'cam_spring', 'cmp_1'],
    [project.segments, 'seg_vip', 'seg_1'],
  ] as const;
  for (const [things, id, ...names] of kinds) {
    for (const name of [...names, '1']) {
      (things as Map<string, object>).set(name, { ...things.get(id), id: name }); // as: of four types
    }
  }
}
