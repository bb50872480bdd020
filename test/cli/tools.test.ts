import { execFile } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createClock, startFakeServer } from 'postreel/testing';
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

  it('postreel status exits with 3 when nothing is set', async () => {
    const { code, stderr } = await piped(['status', '--no-json']);
    expect([code, stderr]).toEqual([3, expect.stringContaining('postreel doctor')]);
  });

  it.each([
    ['MESSAGING_API_KEY', 'messaging'],
    ['MEDIA_BASE_URL', 'media'],
  ])('postreel doctor finds half of a set-up: no %s', async (missing, service) => {
    const env = Object.fromEntries(Object.entries(scene.env).filter(([name]) => name !== missing));
    const { code, stdout } = await piped(['doctor', '--no-json'], { env });
    expect([code, stdout]).toEqual([
      9,
      expect.stringMatching(new RegExp(`problem +${service}: ${missing} is not set`)),
    ]);
    expect((await piped(['status'], { env })).code).toBe(3);
  });

  it('postreel doctor finds a clock that differs from the one of a service', async () => {
    const service = createServer((request, response) => {
      const isStatus = request.url?.startsWith('/v1/generate/status') === true;
      const date = new Date(Date.now() + 3_600_000).toUTCString();
      response.writeHead(isStatus ? 404 : 200, { 'content-type': 'application/json', date });
      response.end('{"data":[]}');
    });
    await new Promise<void>((resolve) => service.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(service.address() as AddressInfo).port}`; // it listens on a port
    const env = {
      MESSAGING_BASE_URL: url,
      MESSAGING_API_KEY: 'sk_1',
      MEDIA_BASE_URL: url,
      MEDIA_API_KEY: 'key_1',
    };
    const { code, stdout } = await piped(['doctor', '--no-json'], { env });
    service.close();
    expect(code).toBe(9);
    for (const name of ['messaging', 'media']) {
      expect(stdout).toMatch(new RegExp(`problem +clock: 3(600|599) s behind ${name}`));
    }
  });

  it('postreel doctor does not call the moved clock of a fake a problem', async () => {
    const clock = createClock({ mode: 'real', start: Date.now() + 3_600_000 });
    const server = await startFakeServer({ messaging: { clock }, media: { clock } });
    const env = {
      MESSAGING_BASE_URL: server.messaging.baseUrl,
      MESSAGING_API_KEY: server.messaging.secretKey,
      MEDIA_BASE_URL: server.media.baseUrl,
      MEDIA_API_KEY: server.media.apiKey,
    };
    const { code, stdout } = await piped(['doctor', '--no-json'], { env });
    await server.close();
    expect([code, stdout]).toEqual([
      0,
      expect.stringMatching(/ok +clock: the fake's clock is 3(600|599) s ahead of this machine/),
    ]);
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
