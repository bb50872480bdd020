import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { createFakeMessaging, startFakeServer, type MessagingBehavior } from 'postreel/testing';
import { expect, it } from 'vitest';

const command = fileURLToPath(new URL('../../../src/cli/index.ts', import.meta.url));
const loader = import.meta.resolve('tsx');
const run = promisify(execFile);

it('postreel probe prints and writes the world of a service, and never its key', async () => {
  const server = await startFakeServer({ messaging: { behavior: { ids: 'uuid' } } });
  server.messaging.seed({ contacts: 2 });
  const cwd = mkdtempSync(join(tmpdir(), 'probe-'));
  const { secretKey } = server.messaging;
  const env = {
    ...process.env,
    MESSAGING_BASE_URL: server.messagingUrl,
    MESSAGING_API_KEY: secretKey,
  };
  const { stdout } = await run(process.execPath, ['--import', loader, command, 'probe'], {
    cwd,
    env,
  });
  await server.close();
  expect(stdout).toContain('messaging ids: uuid  (the document: text)');
  const text = readFileSync(join(cwd, 'behavior.json'), 'utf8');
  for (const secret of [secretKey, server.messagingUrl, 'example.com']) {
    expect(stdout + text).not.toContain(secret);
  }
  const { messaging } = JSON.parse(text) as { messaging: Partial<MessagingBehavior> };
  expect(createFakeMessaging({ behavior: messaging }).settings.ids).toBe('uuid');
});

it('postreel probe says what it needs', async () => {
  const env = { PATH: process.env['PATH'] };
  const failure: unknown = await run(process.execPath, ['--import', loader, command, 'probe'], {
    env,
  }).catch((error: unknown) => error);
  expect(failure).toMatchObject({ code: 1 });
  expect(String((failure as { stderr: unknown }).stderr)).toContain('set MESSAGING_BASE_URL');
});
