import { MessagingClient, type RateBudgetStore } from 'postreel';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { memoryStore } from '../support/transport/memory-store.js';
import { holdLaw, type Subject } from './exceptions.js';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

// The places of `lease`, `hold` and `giveBack` are the media queue's, and so is what it says of them (Q28).
type Step = Exclude<keyof RateBudgetStore, 'lease' | 'hold' | 'giveBack'>;
type Answer = () => Promise<Response>;

const contact = () => Promise.resolve(Response.json({ id: 'con_1', email: 'ann@example.com' }));
const lost = () =>
  Promise.reject(new TypeError('fetch failed', { cause: { code: 'ECONNREFUSED' } }));
const slow = async () => {
  await new Promise((resolve) => setTimeout(resolve, 1_500));
  return contact();
};
const refused = () =>
  Promise.resolve(Response.json({}, { status: 429, headers: { 'retry-after': '600' } }));

/** What a service must answer, a window apart, for each step to be made. */
const answersFor: Readonly<Record<Step, readonly Answer[]>> = {
  take: [contact],
  release: [contact],
  cancel: [lost],
  renew: [slow],
  close: [refused],
  reopen: [refused, contact],
};

const windowMs = 60_000;
const faults: Readonly<Record<string, () => Promise<never>>> = {
  rejects: () => Promise.reject(new Error('gone')),
  throws: () => {
    throw new Error('gone');
  },
};
/** What else can go wrong where a call waits for the answer. */
const faultsOfTake: Readonly<Record<string, () => Promise<unknown>>> = {
  hangs: () => new Promise(() => undefined),
  lags: async () => {
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    return { slots: ['slot'] };
  },
  'answers nothing': () => Promise.resolve(),
  'answers numbers as text': () => Promise.resolve({ waitMs: '0' }),
  'answers no slots': () => Promise.resolve({ slots: [] }),
  'answers too many slots': () => Promise.resolve({ slots: ['one', 'two'] }),
};

let groups = 0;

/** The warnings of a client whose store fails in one step. */
async function warningsOf(step: Step, fault: () => Promise<unknown>): Promise<string[]> {
  const answers = [...answersFor[step]];
  const store = { ...memoryStore().store, renew: () => Promise.resolve(), [step]: fault };
  const client = new MessagingClient({
    apiKey: 'sk_law',
    baseUrl: 'https://messaging.test',
    retries: 0,
    rateLimit: { store, group: `law 7 ${++groups}` },
    fetch: () => (answers.shift() ?? contact)(),
  });
  const warnings: string[] = [];
  client.on('warning', ({ message }) => warnings.push(message));
  for (let call = 0; call < answersFor[step].length; call++) {
    void client.contacts.get('con_1').safe();
    await vi.advanceTimersByTimeAsync(windowMs + 1_000);
  }
  return warnings;
}

function subject(step: Step, fault: string, run: () => Promise<unknown>): Subject {
  return {
    name: `a store of the rate limit whose ${step}() ${fault}`,
    check: async () => {
      const warnings = await warningsOf(step, run);
      expect(warnings[0]).toMatch(/^The store of the rate limit .+\. .+\.$/);
    },
  };
}

it('no fallback in silence: what fails and is gone on without is a warning', async () => {
  const steps = Object.keys(answersFor) as Step[]; // as: the keys of the table
  const subjects = [
    ...steps.flatMap((step) =>
      Object.entries(faults).map(([fault, run]) => subject(step, fault, run)),
    ),
    ...Object.entries(faultsOfTake).map(([fault, run]) => subject('take', fault, run)),
  ];
  await holdLaw('law 7, stores of the rate limit', subjects);
});
