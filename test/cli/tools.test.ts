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
  ])('postreel %s checks both services, with and without color', async (name, said) => {
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
  it('postreel doctor without any setting names the variables to set, and offers the fake', async () => {
    const { code, stdout } = await piped(['--no-json', 'doctor']);
    expect(code).toBe(0);
    expect(stdout).toContain('Put MESSAGING_BASE_URL=https://… and MESSAGING_API_KEY=… into .env');
    expect(stdout).toContain('npx postreel fake');
  });

  it.each([
    [{ MESSAGING_API_KEY: 'pk_public' }, 9, 'a public key, which can only track'],
    [{ MESSAGING_API_KEY: 'sk_wrong_key' }, 9, 'Check MESSAGING_API_KEY.'],
    [{ MEDIA_API_KEY: 'of two words' }, 9, '"advice":"Check MEDIA_API_KEY."'],
    [{ MESSAGING_BASE_URL: 'http://127.0.0.1:2' }, 9, 'Check MESSAGING_BASE_URL and the network.'],
  ])('postreel doctor finds %j', async (wrong, exitCode, said) => {
    const { code, stdout } = await piped(['doctor'], { env: { ...scene.env, ...wrong } });
    expect(code).toBe(exitCode);
    expect(stdout).toContain(said);
  });

  it('postreel doctor names the lines of .env that the environment overrides', async () => {
    const cwd = emptyFolder();
    writeFileSync(join(cwd, '.env'), 'MESSAGING_API_KEY=sk_new\nMEDIA_API_KEY=media_1\n');
    const env = { MESSAGING_API_KEY: 'sk_stale', MEDIA_API_KEY: 'media_1' };
    const { stdout } = await piped(['doctor', '--no-json'], { cwd, env });
    expect(stdout).toContain('.env: sets MEDIA_API_KEY, MESSAGING_API_KEY');
    expect(stdout).toContain(
      'The environment has another value of MESSAGING_API_KEY, which counts.',
    );
    expect(stdout).not.toMatch(/sk_new|sk_stale/);
  });

  it('postreel status exits with 3 if no variable is set', async () => {
    const { code, stderr } = await piped(['status', '--no-json']);
    expect([code, stderr]).toEqual([3, expect.stringContaining('postreel doctor')]);
  });

  it.each([
    ['MESSAGING_API_KEY', 'messaging'],
    ['MEDIA_BASE_URL', 'media'],
  ])('postreel doctor finds an incomplete configuration: no %s', async (missing, service) => {
    const env = Object.fromEntries(Object.entries(scene.env).filter(([name]) => name !== missing));
    const { code, stdout } = await piped(['doctor', '--no-json'], { env });
    expect([code, stdout]).toEqual([
      9,
      expect.stringMatching(new RegExp(`problem +${service}: ${missing} is not set`)),
    ]);
    expect((await piped(['status'], { env })).code).toBe(3);
  });

  it('postreel doctor finds a clock that differs from that of a service', async () => {
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

  it('postreel doctor does not report the moved clock of a fake as a problem', async () => {
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

  it('postreel status exits with 6 if a service does not respond', async () => {
    const env = { ...scene.env, MEDIA_BASE_URL: 'http://127.0.0.1:2' };
    const { code, stdout } = await piped(['status'], { env });
    expect(code).toBe(6);
    const { services } = JSON.parse(stdout) as { services: object[] };
    expect(services).toMatchObject([{ isReachable: true }, { isReachable: false }]);
  });
});

describe('stderr of a command without a terminal', () => {
  it.each([
    [['status'], {}, 3],
    [['doctor'], { MESSAGING_API_KEY: 'sk_wrong_key' }, 9],
    [['verify', 'nobody'], {}, 9],
  ] as const)('postreel %j has no error without a message', async (args, wrong, exitCode) => {
    const env = args[0] === 'status' ? {} : { ...scene.env, ...wrong };
    const { code, stderr } = await piped(args, { env });
    expect(code).toBe(exitCode);
    expect(stderr).not.toContain('"message":""');
  });

  it('is empty after postreel verify has found an invalid address', async () => {
    const args = ['verify', 'nobody', 'ann@example.com'];
    const { code, stdout, stderr } = await piped(args, { env: scene.env });
    expect([code, stderr]).toEqual([9, '']);
    // The second address is checked all the same.
    expect(
      stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as object),
    ).toMatchObject([
      { email: 'nobody', valid: false },
      { email: 'ann@example.com', valid: true },
    ]);
  });
});

describe('an error about a key names the variable', () => {
  it.each([
    ['"sk 1"', 'The API key contains whitespace.'],
    ["'Bearer sk_1'", 'The API key must be the key alone.'],
    ['key_1', 'The API key must start with "sk_" or "pk_".'],
    ['pk_1', 'A public key (pk_) may only track events.'],
  ])('%s in .env', async (key, said) => {
    const cwd = emptyFolder();
    const lines = `MESSAGING_BASE_URL=https://api.example.com\nMESSAGING_API_KEY=${key}\n`;
    writeFileSync(join(cwd, '.env'), lines);
    const { code, stderr } = await piped(['--no-json', 'verify', 'ann@example.com'], { cwd });
    expect([code, stderr]).toEqual([3, expect.stringContaining(said)]);
    expect(stderr).toContain('The key came from MESSAGING_API_KEY.');
  });
});

describe('an error about an address names the variable and a remedy for the command', () => {
  const foreign = /`baseUrl`|`apiKey`|dangerouslyAllow|createFake|--env-file/;
  const wrong = [
    ['api.example.com', 3, 'MESSAGING_BASE_URL is not an absolute address'],
    ['ftp://api.example.com', 3, 'MESSAGING_BASE_URL must start with https:// or http://'],
    ['http://api.example.com', 3, 'Set MESSAGING_BASE_URL to an https address'],
    ['http://127.0.0.1:2', 6, 'The address came from MESSAGING_BASE_URL'],
    ['', 3, 'Set MESSAGING_BASE_URL in the environment or in .env'],
  ] as const;

  it.each(wrong)('%j in .env', async (address, exitCode, said) => {
    const cwd = emptyFolder();
    writeFileSync(join(cwd, '.env'), `MESSAGING_BASE_URL=${address}\nMESSAGING_API_KEY=sk_1\n`);
    for (const args of [
      ['verify', 'ann@example.com'],
      ['--no-json', 'verify', 'ann@example.com'],
    ]) {
      const { code, stderr } = await piped(args, { cwd });
      expect([code, stderr]).toEqual([exitCode, expect.stringContaining(said)]);
      expect(stderr).not.toMatch(foreign);
    }
  });

  it.each(wrong.slice(0, 4))('%j in the environment, found by postreel doctor', async (address) => {
    const env = { ...scene.env, MEDIA_BASE_URL: address };
    const { code, stdout } = await piped(['doctor'], { env });
    expect(code).toBe(9);
    expect(stdout).toContain('MEDIA_BASE_URL');
    expect(stdout).not.toMatch(foreign);
  });

  it('a service that redirects', async () => {
    const server = createServer((_, response) =>
      response.writeHead(301, { location: 'https://elsewhere.example/' }).end(),
    );
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    const { port } = server.address() as AddressInfo; // as: it listens on a port
    const env = { MESSAGING_BASE_URL: `http://127.0.0.1:${port}`, MESSAGING_API_KEY: 'sk_1' };
    const { stderr } = await piped(['verify', 'ann@example.com'], { env });
    server.close();
    expect(stderr).toContain("Set MESSAGING_BASE_URL to the service's own address");
    expect(stderr).not.toMatch(foreign);
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
