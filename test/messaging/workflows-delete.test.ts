import { describe, expect, it } from 'vitest';
import { answering, messagingOver } from '../support/clients.js';

describe('workflows.delete()', () => {
  it.each([{}, { cancelExecutions: true }])(
    'has the properties of a call, with %j',
    async (given) => {
      const { fetch } = answering(() => new Response(null, { status: 204 }));
      const call = messagingOver(fetch).workflows.delete('wf_1', given);
      await call;
      expect(call).toMatchObject({ isSent: true, callId: expect.any(Number) as unknown });
    },
  );

  it.each([{}, { cancelExecutions: true }])('ends with the abort, with %j', async (given) => {
    const call = messagingOver(answering(() => ({})).fetch).workflows.delete('wf_1', {
      ...given,
      signal: AbortSignal.abort('enough'),
    });
    expect((await call.safe()).error).toMatchObject({ code: 'ABORTED' });
  });

  it('has the outcome unknown if executions may be cancelled', async () => {
    const { fetch } = answering(({ url }) =>
      url.includes('cancel') ? {} : Response.json({}, { status: 409 }),
    );
    const call = messagingOver(fetch).workflows.delete('wf_1', { cancelExecutions: true });
    const { error } = await call.safe();
    expect([call.outcome, error?.outcome, error?.status]).toEqual(['unknown', 'unknown', 409]);
  });
});
