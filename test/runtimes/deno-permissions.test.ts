import { stripVTControlCharacters } from 'node:util';
import { spawn } from '@lydell/node-pty';
import { startFakeServer } from 'postreel/testing';
import { expect, it, onTestFinished } from 'vitest';
import { installPackage } from '../support/package/installed.js';
import { argumentsOf, findRuntime, newest } from '../support/runtimes/runtimes.js';

const deno = newest.find(({ name }) => name === 'Deno')!;

const program = (options: object, mediaOptions: object) => `
import { MediaClient, MessagingClient } from 'postreel';
const messaging = new MessagingClient(${JSON.stringify(options)});
const media = new MediaClient(${JSON.stringify(mediaOptions)});
const mail = { from: 'shop@example.com', to: 'ann@example.com', subject: 'Hi', body: 'Hi' };
const { emails } = await messaging.send(mail);
const { fileId } = await media.generate.audio({ content: 'Good morning!', voiceId: 'voice_1' });
console.log('mails', emails.length, 'file', typeof fileId);
try {
  new MessagingClient();
} catch (error) {
  console.log(error.name, error.code);
}
`;

// In a terminal, Deno asks the user for each missing permission, and waits for the answer.
it('Deno needs only --allow-net, and asks for no other permission', async ({ skip }) => {
  const found = await findRuntime(deno);
  const command = 'missing' in found ? skip(found.missing) : found.command;
  const [project, server] = await Promise.all([installPackage(), startFakeServer()]);
  onTestFinished(async () => {
    await server.close();
    await project.remove();
  });
  const { messaging, messagingUrl, media, mediaUrl } = server;
  const file = await project.write(
    'permissions.mjs',
    program(
      { apiKey: messaging.secretKey, baseUrl: messagingUrl },
      { apiKey: media.apiKey, baseUrl: mediaUrl },
    ),
  );
  const args = [...argumentsOf(deno, ['--allow-net']), file];
  const { written, code } = await runInTerminal(command, args, project.folder);
  expect(written.trim().split(/\s*\r\n/)).toEqual([
    'mails 1 file string',
    'ConfigurationError BASE_URL_MISSING',
  ]);
  expect(code).toBe(0);
});

function runInTerminal(command: string, args: readonly string[], cwd: string) {
  const env = { PATH: process.env['PATH'] ?? '', HOME: cwd, NO_COLOR: '1' };
  const terminal = spawn(command, [...args], { cwd, env, cols: 300 });
  let written = '';
  terminal.onData((text) => {
    written += stripVTControlCharacters(text);
  });
  // The test never answers a prompt: this ends a run that waits for one.
  const timer = setTimeout(() => terminal.kill(), 20_000);
  return new Promise<{ written: string; code: number }>((resolve) => {
    terminal.onExit(({ exitCode }) => {
      clearTimeout(timer);
      resolve({ written, code: exitCode });
    });
  });
}
