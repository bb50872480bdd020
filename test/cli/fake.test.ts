import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { MediaClient, MessagingClient } from 'postreel';
import { startFakeServer } from 'postreel/testing';
import { afterEach, describe, expect, it } from 'vitest';
import { readEnvFile, textOf } from '../../src/cli/environment.js';
import { inTerminal, piped, type Terminal } from '../support/cli/command.js';
import { emptyFolder } from '../support/empty-folder.js';

let terminal: Terminal | undefined;
afterEach(() => {
  terminal?.kill('SIGKILL');
  terminal = undefined;
});

/** Starts the fakes in a terminal and reads what an `.env` file would have. */
async function start(args: readonly string[], options: Parameters<typeof inTerminal>[1] = {}) {
  terminal = inTerminal(['fake', '--port', '0', ...args], options);
  await terminal.until('Web page: ');
  const lines = [...terminal.text.matchAll(/^([A-Z_]+)=(.*)$/gm)];
  const env = Object.fromEntries(lines.map(([, name = '', value = '']) => [name, value]));
  const list = (query = '') =>
    fetch(`${env['MESSAGING_BASE_URL']}/contacts${query}`, {
      headers: { authorization: `Bearer ${env['MESSAGING_API_KEY']}` },
    });
  return { terminal, env, list };
}

describe('postreel fake', () => {
  it('prints addresses and keys, logs requests in color and stops on Ctrl+C', async () => {
    const { terminal: screen, env, list } = await start([]);
    expect(Object.keys(env)).toEqual([
      'MESSAGING_BASE_URL',
      'MESSAGING_API_KEY',
      'MESSAGING_PUBLIC_KEY',
      'MEDIA_BASE_URL',
      'MEDIA_API_KEY',
    ]);
    expect((await list()).status).toBe(200);
    await screen.until('200 GET    /messaging/contacts');
    expect(screen.written).toContain('\u001B[32m200');
    expect(screen.text).not.toContain(`${env['MESSAGING_API_KEY']} `);
    screen.type('\u0003');
    expect(await screen.ended).toBe(0);
  });

  it('logs nothing with --no-log, and no color with NO_COLOR', async () => {
    const quiet = await start(['--no-log']);
    await quiet.list();
    expect(quiet.terminal.text).not.toContain('GET');
    quiet.terminal.kill('SIGTERM');
    expect(await quiet.terminal.ended).toBe(0);
    const plain = await start([], { env: { NO_COLOR: '1' }, columns: 40 });
    await plain.list();
    await plain.terminal.until('GET');
    expect(plain.terminal.written).not.toContain('\u001B[32m');
  });

  it('has the same keys at every start, for .env files', async () => {
    const first = await start(['--seed', '5']);
    first.terminal.kill('SIGTERM');
    await first.terminal.ended;
    const second = await start([]);
    const keys = ({ env }: typeof first) => [env['MESSAGING_API_KEY'], env['MEDIA_API_KEY']];
    expect(keys(second)).toEqual(keys(first));
  });

  it('--seed makes up contacts', async () => {
    const { list } = await start(['--seed', '7']);
    const page = (await (await list('?limit=100')).json()) as { data: { id: string }[] };
    expect(page.data).toHaveLength(7 + 2); // and the two that the documents name
  });

  it('runs in real time: a campaign for tomorrow stays scheduled, and a file is ready after --job-time', async () => {
    const { env } = await start(['--job-time', '1s']);
    const messaging = new MessagingClient({
      apiKey: env['MESSAGING_API_KEY'],
      baseUrl: env['MESSAGING_BASE_URL'],
    });
    const tomorrow = new Date(Date.now() + 86_400_000);
    await messaging.campaigns.send('cam_spring', { scheduledFor: tomorrow.toISOString() });
    const media = new MediaClient({ apiKey: env['MEDIA_API_KEY'], baseUrl: env['MEDIA_BASE_URL'] });
    const job = await media.generate.video({
      workflowType: 'idea',
      prompt: 'Why cats purr',
      voiceId: 'voice_1',
    });
    await job.waitForFile({ interval: 500 });
    expect((await messaging.campaigns.get('cam_spring')).status).toBe('SCHEDULED');
  });

  it('knows the ids that the documents use', async () => {
    const { env } = await start([]);
    const messaging = new MessagingClient({
      apiKey: env['MESSAGING_API_KEY'],
      baseUrl: env['MESSAGING_BASE_URL'],
    });
    await messaging.contacts.get('con_1');
    await messaging.templates.get('tpl_welcome');
    await messaging.segments.get('seg_vip');
    await messaging.campaigns.get('cam_spring');
  });

  it('notes once that the generate limit is used up', async () => {
    const { env, terminal: screen } = await start(['--job-time', '100ms']);
    const media = new MediaClient({ apiKey: env['MEDIA_API_KEY'], baseUrl: env['MEDIA_BASE_URL'] });
    for (let made = 0; made < 10; made++) {
      await media.generate.audio({ content: 'Good morning!', voiceId: 'voice_1' });
    }
    await screen.until('takes 10 generate calls in 10 minutes');
  });

  it('rejects an invalid duration', async () => {
    const { code, stderr } = await piped(['fake', '--job-time', 'soon', '--no-json']);
    expect(code).toBe(2);
    expect(stderr).toContain('It must be a duration, such as 500ms, 15s, 2m or 1h.');
  });

  it('--host 0.0.0.0 prints addresses that can be used', async () => {
    const { env, list, terminal: screen } = await start(['--host', '0.0.0.0']);
    expect(env['MESSAGING_BASE_URL']).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/messaging$/);
    expect((await list()).status).toBe(200);
    expect(screen.text).not.toContain('0.0.0.0');
  });

  it('reports in one line why it cannot start', async () => {
    const server = await startFakeServer();
    const port = new URL(server.url).port;
    const { code, stderr } = await piped(['fake', '--port', port, '--no-json']);
    await server.close();
    expect([code, stderr]).toEqual([
      1,
      `error: Port ${port} is taken. Use --port with another number, or --port 0 for any that is free.\n`,
    ]);
  });

  it.each([
    ['nothing', undefined],
    ['settings without a last line end', Buffer.from('FOO=bar\nMESSAGING_API_KEY=sk_mine')],
    ['UTF-16', Buffer.from('\uFEFFFOO=bar\r\nMESSAGING_API_KEY=sk_mine', 'utf16le')],
  ])('--env appends its settings to the file, once: %s', async (_name, before) => {
    const cwd = emptyFolder();
    const path = join(cwd, '.env');
    if (before) {
      writeFileSync(path, before);
    }
    const read = () => readEnvFile(path);
    const runOnce = async () => {
      terminal = inTerminal(['fake', '--port', '0', '--env', '.env'], { cwd });
      await terminal.until('Web page: ');
      expect(terminal.text).not.toContain('sk_');
      const [, port] = /Web page: http:\/\/127\.0\.0\.1:(\d+)/.exec(terminal.text) ?? [];
      expect(read()).toMatchObject({
        ...(before && { FOO: 'bar' }),
        MESSAGING_BASE_URL: `http://127.0.0.1:${port}/messaging`,
      });
      expect(read()['MESSAGING_API_KEY']).not.toBe('sk_mine');
      const status = await piped(['status'], { cwd });
      terminal.kill('SIGTERM');
      await terminal.ended;
      return status.code;
    };
    expect([await runOnce(), await runOnce()]).toEqual([0, 0]);
    const { text } = textOf(readFileSync(path));
    expect(text.match(/MEDIA_API_KEY=/g)).toHaveLength(1);
    expect(/^MESSAGING_API_KEY=sk_mine$/m.test(text)).toBe(before !== undefined);
  });
});
