import { setupWorker } from 'msw/browser';
import { createFakeMessaging, type Fault } from 'postreel/testing';

/** The result of a request of the page. */
export interface Result {
  status?: number;
  /** The name of the error that `fetch` or reading the body ended in. */
  failure?: string;
  /** How many contacts the request created. */
  contacts?: number;
}

/** The functions that the page exposes to the test. */
export interface Lab {
  post(fault?: Fault): Promise<Result>;
  postTo(baseUrl: string, key: string): Promise<Result>;
}

const fake = createFakeMessaging();
const worker = setupWorker(...(await fake.handlers()));
await worker.start({ quiet: true, onUnhandledRequest: 'bypass' });

async function postTo(baseUrl: string, key: string): Promise<Result> {
  const result: Result = {};
  try {
    const response = await fetch(`${baseUrl}/contacts`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ email: 'ann@example.com' }),
      signal: AbortSignal.timeout(300),
    });
    result.status = response.status;
    await response.json();
  } catch (error) {
    result.failure = error instanceof Error ? error.name : String(error);
  }
  return result;
}

async function post(fault?: Fault): Promise<Result> {
  fake.reset();
  const { contacts } = fake.project;
  const before = contacts.size;
  if (fault !== undefined) {
    fake.fail('POST /contacts', fault);
  }
  const result = await postTo(fake.baseUrl, fake.secretKey);
  return { ...result, contacts: fake.project.contacts.size - before };
}

Object.assign(globalThis, { lab: { post, postTo } });
