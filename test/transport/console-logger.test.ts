import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { answering, messagingOver } from '../support/clients.js';

const levels = ['debug', 'info', 'warn', 'error'] as const;
const lines: [string, ...unknown[]][] = [];

beforeEach(() => {
  for (const level of levels) {
    vi.spyOn(console, level).mockImplementation((...words: unknown[]) => {
      lines.push([level, ...words]);
    });
  }
});
afterEach(() => {
  lines.length = 0;
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
});

async function callWith(options: object): Promise<void> {
  const { fetch } = answering(() => ({ id: 'con_1', email: 'ann@example.com' }));
  const messaging = messagingOver(fetch, { validation: { responses: 'off' }, ...options });
  await messaging.contacts.update('con_1', { emial: 'ann@example.com' } as object);
}

describe('POSTREEL_LOG', () => {
  it('set to debug writes each event as one line', async () => {
    vi.stubEnv('POSTREEL_LOG', 'debug');
    await callWith({});
    expect(lines.map(([level, ...words]) => [level, words.length])).toEqual([
      ['warn', 1],
      ['debug', 1],
      ['debug', 1],
    ]);
    expect(lines[2]?.[1]).toMatch(
      /^postreel: response PATCH \/contacts\/con_1 callId=\d+ route="\/contacts\/{id}" attempt=1 status=200 durationMs=\d+$/,
    );
    expect(lines.flat().join()).not.toContain('sk_test');
  });

  it('set to warn writes warnings alone', async () => {
    vi.stubEnv('POSTREEL_LOG', 'warn');
    await callWith({});
    expect(lines.map(([level]) => level)).toEqual(['warn']);
  });

  it.each(['', 'loud'])('set to %j writes nothing', async (word) => {
    vi.stubEnv('POSTREEL_LOG', word);
    vi.spyOn(process, 'emitWarning').mockReturnValue();
    await callWith({});
    expect(lines).toEqual([]);
  });

  it('leaves a logger that was given alone', async () => {
    vi.stubEnv('POSTREEL_LOG', 'debug');
    const warn = vi.fn();
    await callWith({ logger: { warn } });
    expect(lines).toEqual([]);
    expect(warn).toHaveBeenCalledTimes(1);
  });
});

it('the console as a logger gets one line for each event', async () => {
  await callWith({ logger: console });
  expect(lines.map((line) => line.length)).toEqual([2, 2, 2]);
});
