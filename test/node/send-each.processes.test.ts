import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { startFakeServer, type FakeServer } from 'postreel/testing';
import type { SendEachReport } from 'postreel';
import { expect, it } from 'vitest';
import { bundleScript } from '../support/node/bundled.js';

/** `SEND_EACH=all` runs 5,000 recipients and 20 kills; the default is smaller. */
const isWhole = process.env['SEND_EACH'] === 'all';
const people = isWhole ? 5_000 : 600;
const kills = isWhole ? 20 : 5;
const lostAnswers = isWhole ? 30 : 6;

it(`sendEach() mails ${people} people over ${kills} SIGKILLs and ${lostAnswers} lost answers, nobody twice`, async () => {
  const child = await bundleScript('test/support/node/send-child.ts');
  const messaging = { rateLimit: { limit: 1_000_000 } };
  const server = await startFakeServer({ messaging });
  const path = `${child.folder}/mail.jsonl`;
  const start = (...more: string[]) => run(server, [child.path, path, String(people), ...more]);
  const lost = { loseAnswer: true, times: lostAnswers, probability: (2 * lostAnswers) / people };
  server.messaging.fail('POST /v1/send', lost);
  try {
    let killed = 0;
    while (killed < kills) {
      const from = server.messaging.outbox.length;
      const target = Math.ceil((people * (killed + Math.random())) / (kills + 1));
      const { process: one, end } = start();
      const watch = setInterval(() => {
        // Kills between two answers: right after a number of emails, or a little later.
        if (server.messaging.outbox.length >= Math.max(target, from + 1)) {
          one.kill('SIGKILL');
        }
      }, 1);
      const { signal, output } = await end;
      clearInterval(watch);
      expect(signal, output).toBe('SIGKILL');
      killed += 1;
    }
    const last = await start().end;
    const { done, failed, unknown: rows } = JSON.parse(last.output) as SendEachReport;
    const unknown = rows.map(({ row }) => row as string);
    const counts = countsOf(server);
    const mailed = [...counts.keys()];
    console.log(
      `${people} people, ${killed} kills: ${mailed.length} mailed, ${unknown.length} unknown, ${unknown.filter((who) => counts.has(who)).length} of them mailed, ${[...counts.values()].filter((count) => count > 1).length} mailed twice`,
    );
    expect([...counts.values()].filter((count) => count > 1)).toEqual([]);
    expect(failed).toEqual([]);
    expect(done + unknown.length).toBe(people);
    const missing = all().filter((who) => !counts.has(who));
    expect(missing.filter((who) => !unknown.includes(who))).toEqual([]);
    expect(unknown.length).toBeGreaterThan(0);

    const resent = JSON.parse((await start('send').end).output) as SendEachReport;
    expect(resent).toMatchObject({ sent: unknown.length, failed: [], unknown: [] });
    expect(countsOf(server).size).toBe(people);
  } finally {
    await server.close();
    await child.remove();
  }
}, 400_000);

const all = () => Array.from({ length: people }, (_, index) => `p${index}@example.com`);

function countsOf({ messaging }: FakeServer): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { to } of messaging.outbox) {
    counts.set(to, (counts.get(to) ?? 0) + 1);
  }
  return counts;
}

function run({ messaging, messagingUrl }: FakeServer, args: string[]) {
  const own = { MESSAGING_BASE_URL: messagingUrl, MESSAGING_API_KEY: messaging.secretKey };
  const child = spawn(process.execPath, args, { env: { ...process.env, ...own } });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
  });
  child.stderr.pipe(process.stderr); // warnings, such as the wait for the claim of a killed run
  const end = once(child, 'close').then(([, signal]) => ({ signal: signal as unknown, output }));
  return { process: child, end };
}
