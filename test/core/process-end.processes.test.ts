import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { serve } from '../support/fake-server.js';

/**
 * Each script is the top level of a separate process, and nothing else keeps the process alive:
 * it must get to its last line, and must then end by itself.
 */
describe('a process with a bare top-level await', { timeout: 60_000 }, () => {
  it('prints the result of a call and ends', async () => {
    const { fake, server } = await serve();
    const { output } = await run(
      `import { MessagingClient } from 'postreel';
       const client = new MessagingClient({ apiKey: '${fake.secretKey}', baseUrl: '${server.messagingUrl}' });
       const page = await client.contacts.list();
       console.log(page.items.length);`,
    );
    expect(output).toBe('0\n');
  });

  it('prints the result of a call that slept before its retry', async () => {
    const { fake, server } = await serve();
    fake.fail('GET /contacts', { status: 503, retryAfter: 1 });
    const { output } = await run(
      `import { MessagingClient } from 'postreel';
       const client = new MessagingClient({ apiKey: '${fake.secretKey}', baseUrl: '${server.messagingUrl}' });
       const page = await client.contacts.list();
       console.log(page.items.length);`,
    );
    expect(output).toBe('0\n');
    expect(fake.requests).toHaveLength(2);
  });

  it('prints the results of calls that queued for the rate limit', async () => {
    const { fake, server } = await serve();
    const { output } = await run(
      `import { MessagingClient } from 'postreel';
       const rateLimit = { limit: 1, windowMs: 300 };
       const client = new MessagingClient({ apiKey: '${fake.secretKey}', baseUrl: '${server.messagingUrl}', rateLimit });
       const pages = await Promise.all([1, 2, 3].map(() => client.contacts.list().then((page) => page)));
       console.log(pages.length);`,
    );
    expect(output).toBe('3\n');
    expect(fake.requests).toHaveLength(3);
  });

  it('prints the file of a wait, with nothing else alive', async () => {
    const { fakeMedia, server } = await serve({ media: { durations: () => '1s', queueTime: 0 } });
    const { output } = await run(
      `import { MediaClient } from 'postreel';
       const client = new MediaClient({ apiKey: '${fakeMedia.apiKey}', baseUrl: '${server.mediaUrl}' });
       const { fileId } = await client.generate.audio({ content: 'Hello', voiceId: 'voice_1' });
       const file = await client.waitForFile(fileId, { interval: 500 });
       console.log(file.fileId === fileId);`,
    );
    expect(output).toBe('true\n');
  });

  it('prints the job of an import, with nothing else alive', async () => {
    const { fake, server } = await serve({ messaging: { jobs: { perSecond: 1 } } });
    const { output } = await run(
      `import { MessagingClient } from 'postreel';
       const client = new MessagingClient({ apiKey: '${fake.secretKey}', baseUrl: '${server.messagingUrl}' });
       const { jobId } = await client.contacts.import(new TextEncoder().encode('email\\nann@example.com\\n'));
       const job = await client.contacts.waitForImport(jobId, { interval: 300 });
       console.log(job.state);`,
    );
    expect(output).toBe('completed\n');
  });
});

describe('a process ends at once', { timeout: 60_000 }, () => {
  const calls: [string, string][] = [
    [
      'after a call with a long timeout and deadline',
      `await client.contacts.list({}, { timeout: 60_000, deadline: 90_000 });`,
    ],
    [
      'after a call that was refused',
      `await client.contacts.get('con_none').catch(() => undefined);`,
    ],
    [
      'after an abort in the queue',
      `const signal = AbortSignal.timeout(50);
       await client.contacts.list();
       await client.contacts.list({}, { signal, deadline: 90_000 }).then(null, () => undefined);`,
    ],
    [
      'after an abort in the sleep before a retry',
      `const controller = new AbortController();
       client.on('retry', () => setTimeout(() => controller.abort(), 10));
       await client.events.names({ signal: controller.signal }).catch(() => undefined);`,
    ],
    [
      'after a hundred waits that were aborted in the line',
      `const signal = AbortSignal.timeout(50);
       const wait = () => client.contacts.waitForImport('job_none', { signal }).catch(() => undefined);
       await Promise.all(Array.from({ length: 100 }, wait));`,
    ],
    [
      'after an abort between two checks of a wait',
      `const signal = AbortSignal.timeout(50);
       await client.contacts.waitForImport('job_none', { interval: 60_000, signal }).catch(() => undefined);`,
    ],
  ];

  it.each(calls)('%s', async (_, lines) => {
    const { fake, server } = await serve();
    fake.fail('GET /events/names', { status: 503, retryAfter: 60 });
    fake.fail('GET /contacts/import/{jobId}', { status: 503 });
    const { output, leftOverMs } = await run(
      `import { MessagingClient } from 'postreel';
       const rateLimit = { limit: 1, windowMs: 60_000 };
       const client = new MessagingClient({ apiKey: '${fake.secretKey}', baseUrl: '${server.messagingUrl}', rateLimit });
       ${lines}
       console.log('done');`,
    );
    expect(output).toBe('done\n');
    // Node's own kept-alive connections do not hold a process, and no timer of ours may.
    expect(leftOverMs).toBeLessThan(20_000); // the timers would take 60 s
  });
});

/** Runs a module and measures how long the process lived on after its last line. */
async function run(script: string): Promise<{ output: string; leftOverMs: number }> {
  const clock = `
    const lastLineAt = performance.now();
    process.on('exit', () => console.error(performance.now() - lastLineAt));`;
  const { stdout, stderr } = await promisify(execFile)(
    process.execPath,
    ['--input-type=module', '-e', script + clock],
    { timeout: 30_000 },
  );
  return { output: stdout, leftOverMs: Number(stderr) };
}
