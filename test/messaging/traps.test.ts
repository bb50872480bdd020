import { readFileSync } from 'node:fs';
import { MessagingClient } from 'postreel';
import { createFakeMessaging } from 'postreel/testing';
import { describe, expect, it } from 'vitest';
import { callTraps } from '../support/messaging/call-traps.js';
import { dataTraps } from '../support/messaging/data-traps.js';
import type { Scene } from '../support/messaging/traps.js';
import { compile } from '../support/types/compile.js';

const traps = [...dataTraps, ...callTraps];

const head = `
import { clear, MessagingClient, transient } from 'postreel';
interface Fields { plan: 'free' | 'pro'; seats: number; trialEnds: Date }
const m = new MessagingClient<Fields>();
const email = 'ann@example.com';
const content = { subject: 'Hi', body: 'Hi', from: 'shop@example.com' };
export { clear, transient, content, email, m };
`;

function scene(): Scene {
  const fake = createFakeMessaging();
  const messaging = new MessagingClient({ ...fake.options, rateLimit: false });
  const warnings: string[] = [];
  messaging.on('warning', ({ message }) => warnings.push(message));
  return { fake, messaging, warnings };
}

describe.each(traps.map((trap) => [trap.name, trap] as const))('%s', (_, trap) => {
  it('is the behaviour of the service', () => trap.service(scene()));

  it('does not happen with the client, or the client reports it', () => trap.client(scene()));
});

describe('the compiler', () => {
  it('accepts the right lines', () => {
    expect(compile(head + traps.map(({ right }) => `void ${right};`).join('\n')).errors).toEqual(
      [],
    );
  });

  it('rejects each of the wrong lines', () => {
    const wrong = traps.map((trap) => `void ${trap.wrong.replaceAll('\n', ' ')};`);
    const { lines } = compile(head + wrong.join('\n'));
    const firstLine = head.split('\n').length - 1;
    expect(lines).toEqual(wrong.map((_, index) => firstLine + index));
  });
});

it('the documentation lists every trap', () => {
  const page = readFileSync('docs/traps.md', 'utf8');
  const listed = [...page.matchAll(/^\| (?:A|An|Events|The) .*$/gm)].map(([row]) => row);
  for (const { name } of traps) {
    const start = name.charAt(0).toUpperCase() + name.slice(1);
    expect(listed.some((row) => row.startsWith(`| ${start} `))).toBe(true);
  }
});
