import { readFileSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { build } from 'esbuild';
import type { Fault } from 'postreel/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { withServices } from '../support/scripts.js';

// Each run signs up the same person twice, and then does the work of the night.
const published = readFileSync('examples/30-welcome-once.ts', 'utf8');
// A deadline that the machine keeps while it loads the package: a minute of waiting takes a second.
const example = published.replace('deadline: 10_000', 'deadline: 90_000');
const atOnce = example.replace('10 * 60_000', '0'); // the night is right after the sign-up

let folder = '';
beforeAll(async () => {
  await mkdir('test/.tmp', { recursive: true });
  folder = await mkdtemp(resolve('test/.tmp/welcome-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function compile(code: string): Promise<string> {
  const file = await mkdtemp(resolve(folder, 'script-'));
  await writeFile(`${file}.ts`, code);
  await build({ entryPoints: [`${file}.ts`], outfile: `${file}.mjs`, tsconfigRaw: {} });
  return `${file}.mjs`;
}

describe('the welcome email', () => {
  const isNora = ({ to }: { readonly to: string }) => to === 'nora@example.com';

  it('is sent once to a person who signs up again and again, also after a restart', async () => {
    const script = await compile(example);
    await withServices(async (run, { messaging }) => {
      for (const time of ['first', 'second']) {
        const { code, output } = await run([script]);
        expect([code, messaging.outbox.filter(isNora).length], `${time}: ${output}`).toEqual([
          0, 1,
        ]);
        expect(output).toMatch(/^201 201\n[\s\S]*isWelcomed: true/);
      }
    });
  });

  it.each<[string, Fault]>([
    ['was sent, but whose response was lost, is found by the nightly job', { loseAnswer: true }],
    ['was lost before the service saw it is sent by the nightly job', { drop: true }],
  ])('that %s', async (_, fault) => {
    expect(example).not.toBe(published);
    expect(atOnce).not.toBe(example);
    const script = await compile(atOnce);
    await withServices(async (run, { messaging }) => {
      messaging.fail('POST /v1/send', fault);
      const { code, output } = await run([script]);
      expect(code, output).toBe(0);
      expect(output).toMatch(/welcome\/1: POST \/v1\/send[\s\S]*201 201\n[\s\S]*isWelcomed: true/);
      expect(messaging.outbox.filter(isNora)).toHaveLength(1);
    });
  });

  it('that may have been sent a moment ago is left to the next night', async () => {
    const script = await compile(example);
    await withServices(async (run, { messaging }) => {
      messaging.fail('POST /v1/send', { drop: true });
      const { code, output } = await run([script]);
      expect(code, output).toBe(0);
      expect(output).toContain('isWelcomed: false');
      expect(messaging.outbox.filter(isNora)).toEqual([]);
    });
  });

  it('is not sent again after a kill between its request and the response', async () => {
    const script = await compile(published);
    await withServices(async (run, { messaging }) => {
      messaging.fail('POST /v1/send', { stall: true });
      const kill = new AbortController();
      const watch = setInterval(() => messaging.outbox.some(isNora) && kill.abort(), 1);
      await run([script], kill.signal);
      clearInterval(watch);
      const { code, output } = await run([script]);
      expect(code, output).toBe(0);
      expect(output).toMatch(/welcome\/1: [\s\S]*201 201\n[\s\S]*isWelcomed: false/);
      expect(messaging.outbox.filter(isNora)).toHaveLength(1);
    });
  });
});
