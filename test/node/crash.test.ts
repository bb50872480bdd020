import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startFakeServer, type FakeServer } from 'postreel/testing';
import { expect, it } from 'vitest';

const runs = 20;
const atOnce = 3;
const films = 60;
const longestMs = 30_000;

interface Report {
  results: { index: number; prompt: string; fileId?: string; error?: unknown; code?: string }[];
  /** The jobs of which the journal says that nobody knows. */
  unclear: string[];
}

/** When to kill a process. */
interface Moment {
  /** At which request, counted from its start. */
  readonly request: number;
  /** At which job that the service accepts: the answer has not left by then. */
  readonly accepted: number;
  /** Or so long after the moment. */
  readonly delayMs: number;
}

it(`finishes ${films} jobs but the unclear ones, none twice, over ${runs} runs with SIGKILL`, async () => {
  const left = Array.from({ length: runs }, (_, index): number => (index % 4 === 3 ? 2 : 1));
  const kills: number[] = [];
  const unclear: number[] = [];
  const lane = async () => {
    for (let moments = left.pop(); moments; moments = left.pop()) {
      const run = await survive(Array.from({ length: moments }, randomMoment));
      // A process that was done before its moment is no run.
      if (run.kills === 0) {
        left.push(moments);
      } else {
        kills.push(run.kills);
      }
      unclear.push(run.unclear);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, lane));
  const total = (numbers: number[]) => numbers.reduce((sum, number) => sum + number, 0);
  const all = unclear.length * films;
  console.log(
    `${kills.length} runs, ${total(kills)} kills, ${total(unclear)} of ${all} jobs unclear`,
  );
  expect(kills).toHaveLength(runs);
  // Otherwise the moments have missed what they are for: between a call and its answer, and beside.
  expect(unclear.some((count) => count > 0)).toBe(true);
  expect(unclear.some((count) => count === 0)).toBe(true);
}, 300_000);

function randomMoment(): Moment {
  const upTo = (most: number) => 1 + Math.floor(Math.random() * most);
  const isAtRequest = Math.random() < 0.6;
  return {
    request: isAtRequest ? upTo(80) : Infinity,
    accepted: isAtRequest ? Infinity : upTo(films),
    delayMs: Math.random() < 0.5 ? 0 : Math.random() * 20,
  };
}

/** Kills a process at each moment, then lets one run to its end, and checks what came of it. */
async function survive(moments: readonly Moment[]) {
  const folder = await mkdtemp(join(tmpdir(), 'postreel-crash-'));
  const path = join(folder, 'jobs.jsonl');
  let onAccepted = () => {};
  const durations = () => {
    onAccepted();
    return 20 + Math.random() * 180;
  };
  const server = await startFakeServer({ media: { rateLimit: false, queueTime: 10, durations } });
  let kills = 0;
  try {
    for (const moment of moments) {
      const child = start(server, path);
      const kill = () => setTimeout(() => child.kill(), moment.delayMs);
      const accepted = server.media.files.length + moment.accepted;
      const request = server.media.requests.length + moment.request;
      // The job itself is not in the list yet. What is killed at once never reads the answer.
      onAccepted = () => {
        if (server.media.files.length + 1 === accepted) {
          (moment.delayMs ? kill : child.kill)();
        }
      };
      const watch = setInterval(() => {
        if (server.media.requests.length >= request) {
          kill();
        }
      }, 1);
      const { signal } = await child.end;
      clearInterval(watch);
      if (signal === 'SIGKILL') {
        kills++;
      }
    }
    onAccepted = () => {};
    const { code, output } = await start(server, path).end;
    expect(code, output).toBe(0);
    return { kills, unclear: check(JSON.parse(output) as Report, server) };
  } finally {
    await server.close();
    await rm(folder, { recursive: true });
  }
}

/** Starts the queue in a process of its own. */
function start(server: FakeServer, path: string) {
  const preload = ['--import', './test/support/node/fast-clock.mjs'];
  const command = [...preload, 'test/support/node/crash-child.mjs', path, String(films)];
  const env = { MEDIA_BASE_URL: server.mediaUrl, MEDIA_API_KEY: server.media.apiKey };
  const child = spawn(process.execPath, command, { env: { ...process.env, ...env } });
  // Another signal than the one that is looked for.
  const timer = setTimeout(() => child.kill('SIGTERM'), longestMs);
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  }
  const end = new Promise<{ code: number | null; signal: string | null; output: string }>(
    (resolve) => {
      child.once('close', (code, signal) => {
        clearTimeout(timer);
        resolve({ code, signal, output });
      });
    },
  );
  return { kill: () => void child.kill('SIGKILL'), end };
}

/** No film is lost, none was made twice; the answer is how many are unclear. */
function check({ results, unclear }: Report, { media }: FakeServer): number {
  const made = (prompt: string) => media.files.filter(({ settings }) => settings.prompt === prompt);
  expect(results.map(({ index }) => index).sort((a, b) => a - b)).toEqual([...Array(films).keys()]);
  for (const { prompt, fileId, code, error } of results) {
    const fileIds = made(prompt).map((file) => file.fileId);
    if (fileId !== undefined) {
      expect(fileIds).toEqual([fileId]);
    } else {
      expect(code, JSON.stringify(error)).toBe('OUTCOME_UNKNOWN');
      expect(fileIds.length).toBeLessThanOrEqual(1);
    }
  }
  const unfinished = results.filter(({ fileId }) => fileId === undefined);
  expect(unclear.sort()).toEqual(unfinished.map(({ prompt }) => prompt).sort());
  return unfinished.length;
}
