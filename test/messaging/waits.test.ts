import type { MessagingClient } from 'postreel';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { answering, messagingOver } from '../support/clients.js';
import { inTime } from '../support/media/fake-time.js';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date', 'performance'] });
});
afterEach(() => void vi.useRealTimers());

const waits: [string, (client: MessagingClient) => Promise<unknown>][] = [
  ['campaigns.waitUntilSent()', ({ campaigns }) => campaigns.waitUntilSent('cmp_1')],
  ['contacts.waitForImport()', ({ contacts }) => contacts.waitForImport('job_1')],
  ['contacts.waitForBulkJob()', ({ contacts }) => contacts.waitForBulkJob('job_1')],
  ['executions.wait()', ({ workflows }) => workflows.executions.wait('wf_1', 'exe_1')],
];

describe.each(waits)('%s', (_, wait) => {
  it('repeats a failed check at its interval, and no faster', async () => {
    const answers = [503, 503].map((status) => () => Response.json({}, { status }));
    const times: number[] = [];
    const { fetch } = answering(() => {
      times.push(Date.now());
      return answers.shift()?.() ?? { id: '1', status: 'completed', state: 'completed' };
    });
    const validation = { requests: 'off', responses: 'off' } as const;
    await inTime(wait(messagingOver(fetch, { validation, retries: 2 })));
    expect(times).toHaveLength(3);
    const gaps = times.slice(1).map((time, index) => time - times[index]!);
    expect(Math.min(...gaps)).toBeGreaterThanOrEqual(1_000);
  });
});
