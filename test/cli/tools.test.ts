import { execFile } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createFakeMessaging, type MessagingBehavior } from 'postreel/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hasColors, inTerminal, piped } from '../support/cli/command.js';
import { emptyFolder } from '../support/empty-folder.js';
import { startScene, type Scene } from '../support/cli/scene.js';

let scene: Scene;
beforeAll(async () => {
  scene = await startScene();
});
afterAll(() => scene.server.close());

describe('in a terminal', () => {
  it.each([
    ['status', /messaging {2}ok \(\d+ ms\)\nmedia {6}ok/],
    ['doctor', /ok +messaging: answers in \d+ ms and accepts the key/],
  ])('postreel %s looks at both services, with and without color', async (name, said) => {
    const { env, folder: cwd } = scene;
    const colored = inTerminal([name], { env, cwd, columns: 120 });
    const plain = inTerminal([name, '--no-color'], { env, cwd, columns: 40 });
    expect([await colored.ended, await plain.ended]).toEqual([0, 0]);
    expect(colored.text).toMatch(said);
    expect(plain.text).toMatch(said);
    expect([hasColors(colored.written), hasColors(plain.written)]).toEqual([true, false]);
  });

  it('postreel probe prints and writes the world of a service, and never its key', async () => {
    const { env, server } = scene;
    server.messaging.settings.ids = 'uuid';
    const cwd = emptyFolder();
    const terminal = inTerminal(['probe'], { env, cwd });
    expect(await terminal.ended).toBe(0);
    server.messaging.settings.ids = 'text';
    expect(terminal.text).toContain('messaging ids: uuid  (the document: text)');
    const text = readFileSync(join(cwd, 'behavior.json'), 'utf8');
    for (const secret of [server.messaging.secretKey, server.messagingUrl, 'example.com']) {
      expect(terminal.text + text).not.toContain(secret);
    }
    const { messaging } = JSON.parse(text) as { messaging: Partial<MessagingBehavior> };
    expect(createFakeMessaging({ behavior: messaging }).settings.ids).toBe('uuid');
  });
});

describe('without a terminal', () => {
  it('postreel doctor without any setting says what to put where, and offers the fake', async () => {
    const { code, stdout } = await piped(['--no-json', 'doctor']);
    expect(code).toBe(0);
    expect(stdout).toContain('Put MESSAGING_BASE_URL=https://… and MESSAGING_API_KEY=… into .env');
    expect(stdout).toContain('npx postreel fake');
  });

  it.each([
    [{ MESSAGING_API_KEY: 'pk_public' }, 9, 'a public key, which can only track'],
    [{ MESSAGING_API_KEY: 'sk_wrong_key' }, 9, 'Check MESSAGING_API_KEY.'],
    [{ MESSAGING_BASE_URL: 'http://127.0.0.1:2' }, 9, 'Check MESSAGING_BASE_URL and the network.'],
  ])('postreel doctor finds %j', async (wrong, exitCode, said) => {
    const { code, stdout } = await piped(['doctor'], { env: { ...scene.env, ...wrong } });
    expect(code).toBe(exitCode);
    expect(stdout).toContain(said);
  });

  it.each([
    [['status'], 3],
    [['probe'], 3],
  ])('postreel %j exits with %i when nothing is set', async (args, exitCode) => {
    const { code, stderr } = await piped([...args, '--no-json']);
    expect(code).toBe(exitCode);
    expect(stderr).not.toBe('');
  });

  it('postreel status exits with 6 when a service does not answer', async () => {
    const env = { ...scene.env, MEDIA_BASE_URL: 'http://127.0.0.1:2' };
    const { code, stdout } = await piped(['status'], { env });
    expect(code).toBe(6);
    const { services } = JSON.parse(stdout) as { services: object[] };
    expect(services).toMatchObject([{ isReachable: true }, { isReachable: false }]);
  });
});

describe('postreel completion', () => {
  it.each([
    ['postreel co', ['contacts', 'completion']],
    ['postreel contacts ', ['list', 'import', 'export', '--help']],
    ['postreel jobs wait --o', ['--out']],
  ])('bash completes "%s"', async (line, words) => {
    const { stdout } = await piped(['completion', 'bash']);
    const script = join(emptyFolder(), 'script.bash');
    const parts = line.split(' ');
    const quoted = parts.map((part) => `'${part}'`).join(' ');
    const test = `COMP_WORDS=(${quoted}); COMP_CWORD=${parts.length - 1}; _postreel; echo "\${COMPREPLY[@]}"`;
    writeFileSync(script, `${stdout}\n${test}\n`);
    const { stdout: completed } = await promisify(execFile)('bash', [script]);
    expect(completed.trim().split(' ')).toEqual(words);
  });

  it.each(['zsh', 'fish'])('%s gets a script with every command', async (shell) => {
    const terminal = inTerminal(['completion', shell]);
    expect(await terminal.ended).toBe(0);
    for (const word of ['send', 'workflows', 'deploy', '--journal']) {
      expect(terminal.text).toContain(word);
    }
    if (existsSync(`/usr/bin/${shell}`)) {
      const file = join(emptyFolder(), 'script');
      writeFileSync(file, terminal.text);
      await promisify(execFile)(shell, ['-n', file]);
    }
  });
});
