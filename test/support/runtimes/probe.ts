import type * as Postreel from 'postreel';

/** One call into a fault. */
export interface Probe {
  readonly fault: string;
  readonly url: string;
  readonly call: 'send' | 'get';
}

/** The result that the caller gets. */
export interface Ending {
  readonly data?: unknown;
  readonly error?: {
    readonly name: string;
    readonly code: string;
    readonly outcome: string | undefined;
    readonly message: string;
  };
  /** The `outcome` of the call object. */
  readonly outcome: string | undefined;
  readonly attempts: number;
}

/**
 * Makes every call at the same time, each with a separate client. The function uses nothing from
 * outside: each runtime gets its source as text, with its import of the package.
 */
export function probe(
  { MessagingClient }: typeof Postreel,
  probes: readonly Probe[],
): Promise<Ending[]> {
  return Promise.all(
    probes.map(async ({ fault, url, call }) => {
      const client = new MessagingClient({
        apiKey: 'sk_test_key',
        baseUrl: url,
        dangerouslyAllowPlainHttp: true,
        rateLimit: false,
        // Long enough for the request to arrive on a busy machine.
        ...(fault.includes('in time') ? { timeout: 1_500, retries: 1 } : { timeout: 20_000 }),
      });
      if (fault.includes('used again')) {
        await client.contacts.get('first');
        await new Promise((resolve) => setTimeout(resolve, 100)); // until its connection is free
      }
      let attempts = 0;
      const controller = new AbortController();
      client.on('request', () => {
        attempts++;
        if (fault.includes('aborted')) {
          setTimeout(() => controller.abort(new Error('enough')), 1_500);
        }
      });
      const { signal } = controller;
      const mail = { from: 'shop@example.com', to: 'ann@example.com', subject: 'Hi', body: 'Hi' };
      const running =
        call === 'send' ? client.send(mail, { signal }) : client.contacts.get('con_1', { signal });
      const { data, error } = await running.safe();
      const { outcome } = running;
      if (!error) {
        return { data, outcome, attempts };
      }
      const { name, code, message } = error;
      return { error: { name, code, message, outcome: error.outcome }, outcome, attempts };
    }),
  );
}
