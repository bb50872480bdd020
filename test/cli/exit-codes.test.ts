import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import type { Fault } from 'postreel/testing';
import { piped } from '../support/cli/command.js';
import { emptyFolder } from '../support/empty-folder.js';
import { startScene, type Scene } from '../support/cli/scene.js';

let scene: Scene | undefined;
afterEach(() => scene?.server.close());

const send = ['send', '--from', 'shop@example.com', '--to', 'ann@example.com', '--subject', 'Hi'];
const full = [...send, '--body', '<p>Hi</p>', '--yes'];

describe('the exit code', () => {
  it.each<[string, Fault, number]>([
    ['an answer that was lost', { loseAnswer: true }, 5],
    ['a refusal', { status: 422 }, 4],
    ['a refused key', { status: 401 }, 3],
  ])('after %s tells a script what to do', async (_name, fault, exitCode) => {
    scene = await startScene();
    scene.server.messaging.fail('POST /v1/send', fault);
    const { code, stdout, stderr } = await piped(full, scene);
    expect([code, stdout]).toEqual([exitCode, '']);
    expect(JSON.parse(stderr.trim().split('\n').at(-1) ?? '')).toMatchObject({ exitCode });
  });

  it.each([
    ['one person', [], 6],
    ['several, of whom the first may have been mailed', ['--to', 'bob@example.com'], 5],
  ])('after a 429 to a mail for %s', async (_name, more, exitCode) => {
    scene = await startScene();
    const fault = { status: 429, retryAfter: 300, times: 9 };
    scene.server.messaging.fail('POST /v1/send', fault);
    const { code } = await piped([...full, ...more], scene);
    expect(code).toBe(exitCode);
  });

  it.each<[string, Fault]>([
    ['a lost answer', { loseAnswer: true, times: 9 }],
    ['a 503', { status: 503, times: 9 }],
  ])('is 6 after %s to a read, which changes nothing', async (_name, fault) => {
    scene = await startScene();
    scene.server.messaging.fail('GET /contacts', fault);
    const { code } = await piped(['contacts', 'export'], scene);
    expect(code).toBe(6);
  });

  it('is 6 if no service responds', async () => {
    const { env, server } = await startScene();
    await server.close();
    const { code, stderr } = await piped([...full, '--no-json'], { env });
    expect(code).toBe(6);
    expect(stderr).toContain('error: ');
  });

  it('is 4 for an email that the client rejects', async () => {
    scene = await startScene();
    const { code } = await piped([...send, '--yes'], scene);
    expect([code, scene.server.messaging.requests.length]).toEqual([4, 0]);
  });

  it('is 3 without a key, and the error names the missing variable', async () => {
    const { code, stderr } = await piped([...full, '--no-json']);
    expect(code).toBe(3);
    expect(stderr).toContain('MESSAGING_');
  });
});

describe('keys', () => {
  it('come from .env, unless the environment sets them', async () => {
    scene = await startScene();
    const { MESSAGING_BASE_URL = '', MESSAGING_API_KEY = '' } = scene.env;
    scene.write(
      '.env',
      `MESSAGING_BASE_URL=${MESSAGING_BASE_URL}\nMESSAGING_API_KEY=sk_wrong_key\n`,
    );
    const cwd = scene.folder;
    const verify = ['verify', 'ann@example.com'];
    expect((await piped(verify, { cwd })).code).toBe(3);
    expect((await piped(verify, { cwd, env: { MESSAGING_API_KEY } })).code).toBe(0);
  });

  it.each([
    ['UTF-16, as PowerShell writes it', (text: string) => Buffer.from(`\uFEFF${text}`, 'utf16le')],
    [
      'UTF-16 with the other byte first',
      (text: string) => Buffer.from(`\uFEFF${text}`, 'utf16le').swap16(),
    ],
    ['UTF-8 with a mark', (text: string) => Buffer.from(`\uFEFF${text}`)],
    [
      'UTF-8, to which PowerShell appended',
      (text: string) => Buffer.concat([Buffer.from('OTHER=1\n'), Buffer.from(text, 'utf16le')]),
    ],
  ])('are read from a .env in %s', async (_name, bytesOf) => {
    scene = await startScene();
    const text = Object.entries(scene.env).map(([name, value]) => `${name}=${value}\r\n`);
    writeFileSync(join(scene.folder, '.env'), bytesOf(text.join('')));
    const cwd = scene.folder;
    expect((await piped(['status'], { cwd })).code).toBe(0);
    expect((await piped(['doctor', '--no-json'], { cwd })).stdout).toContain(
      '.env: sets MEDIA_API_KEY, MEDIA_BASE_URL, MESSAGING_API_KEY, MESSAGING_BASE_URL',
    );
  });

  it('are requested in one line if .env is a folder, and the help still works', async () => {
    const cwd = emptyFolder();
    mkdirSync(join(cwd, '.env'));
    const { code, stderr } = await piped(['contacts', 'list', '--no-json'], { cwd });
    expect([code, stderr]).toEqual([3, expect.stringMatching(/^\S+\.env is a folder[^\n]*\n$/)]);
    expect((await piped(['--help'], { cwd })).code).toBe(0);
    const doctor = await piped(['doctor', '--no-json'], { cwd });
    expect([doctor.code, doctor.stdout]).toEqual([
      9,
      expect.stringMatching(/problem +\.env: .*is a folder/),
    ]);
  });

  it.each([
    ['status', ['status']],
    ['contacts list', ['contacts', 'list']],
    ['verify', ['verify', 'ann@example.com']],
  ])('that are malformed end %s with 3', async (_name, args) => {
    scene = await startScene();
    const env = { ...scene.env, MESSAGING_API_KEY: 'sk_key with\nline break' };
    const { code } = await piped(args, { env });
    expect(code).toBe(3);
  });

  it('are never printed, whatever a service returns', async () => {
    scene = await startScene();
    const { MESSAGING_API_KEY = '' } = scene.env;
    const body = { error: `The key ${MESSAGING_API_KEY} is not allowed` };
    scene.server.messaging.fail('*', { status: 403, body, times: 9 });
    for (const args of [
      full,
      ['status'],
      ['doctor'],
      ['contacts', 'list'],
      [...full, '--no-json'],
      // A text of the command, which may name the key twice.
      ['contacts', 'import', join(MESSAGING_API_KEY, MESSAGING_API_KEY), '--yes'],
    ]) {
      const { stdout, stderr } = await piped(args, scene);
      expect(stdout + stderr).not.toContain(MESSAGING_API_KEY);
    }
  });
});
