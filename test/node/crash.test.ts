import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MediaClient } from 'postreel';
import { fileJournal } from 'postreel/node';
import { startFakeServer, type FakeServer } from 'postreel/testing';
import { expect, it } from 'vitest';
import { startQueue, type CrashReport } from '../support/node/crash-process.js';

// `KILLS=40 npx vitest run test/node/crash.test.ts` is the long form.
const kills = Number(process.env['KILLS'] ?? 12);
const atOnce = 2;
const films = 60;
const atWorkMs = 30_000; // on a busy machine: a claim that is not recognized as dead takes a minute

interface Story {
  readonly kills: number;
  /** Jobs of which nobody knows. */
  readonly unclear: number;
  /** How long the run after the last kill took to its first request. */
  readonly atWorkMs: number | undefined;
}

it(`finishes ${films} jobs of two overlapping runs over ${kills} SIGKILLs: none twice, none lost`, async () => {
  const stories: Story[] = [];
  const killed = () => stories.reduce((sum, story) => sum + story.kills, 0);
  // Some stories end with nothing left to be at work on: one has to tell how long that takes.
  const isTold = () =>
    stories.length > 30 || stories.some(({ atWorkMs }) => atWorkMs !== undefined);
  const lane = async () => {
    while (killed() < kills || !isTold()) {
      stories.push(await survive());
    }
  };
  await Promise.all(Array.from({ length: atOnce }, lane));
  const unclear = stories.map((story) => story.unclear);
  const waits = stories.flatMap((story) => story.atWorkMs ?? []);
  console.log(
    `${killed()} kills, unclear of ${films}: ${unclear.join(', ')}; ` +
      `at work after ms: ${waits.map(Math.round).join(', ')}`,
  );
  expect(waits.length).toBeGreaterThan(0);
  expect(Math.max(...waits)).toBeLessThan(atWorkMs);
}, 460_000);

/** Kills both of two runs twice, then lets two come to their end, and checks what came of it. */
async function survive(): Promise<Story> {
  const folder = await mkdtemp(join(tmpdir(), 'postreel-crash-'));
  let onAccepted = () => {};
  const durations = () => {
    onAccepted();
    return 20 + Math.random() * 180;
  };
  const server = await startFakeServer({ media: { rateLimit: false, queueTime: 10, durations } });
  try {
    let killed = 0;
    for (let round = 0; round < 2; round++) {
      const runs = [startQueue(server, folder, films), startQueue(server, folder, films)];
      const listen = (hook: () => void) => {
        onAccepted = hook;
      };
      const moments = runs.map((run) => momentIn(server, run.kill, listen));
      const ends = await Promise.all(runs.map(({ end }) => end));
      moments.forEach((stop) => stop());
      onAccepted = () => {};
      for (const { signal, code, output } of ends) {
        expect(signal ?? code, output).toSatisfy((how) => how === 'SIGKILL' || how === 0);
        killed += signal === 'SIGKILL' ? 1 : 0; // the other ones were done before their moment
      }
    }
    const nextAtWorkMs = await timeToWork(server, folder);
    const runs = [startQueue(server, folder, films), startQueue(server, folder, films)];
    const ends = await Promise.all(runs.map(({ end }) => end));
    for (const { code, output } of ends) {
      expect(code, output).toBe(0);
    }
    const reports = ends.map(({ output }) => JSON.parse(output) as CrashReport);
    return { kills: killed, unclear: check(reports, server), atWorkMs: nextAtWorkMs };
  } finally {
    await server.close();
    await rm(folder, { recursive: true });
  }
}

/**
 * Kills a process at a random request, or while the answer about a job is about to leave: then
 * nobody ever reads it. Answers a way to stop watching.
 */
function momentIn(
  server: FakeServer,
  kill: () => void,
  listen: (hook: () => void) => void,
): () => void {
  const upTo = (most: number) => 1 + Math.floor(Math.random() * most);
  const request = server.media.requests.length + upTo(150);
  const accepted = server.media.files.length + upTo(films / 2);
  const latest = setTimeout(kill, 4_000);
  if (Math.random() < 0.2) {
    listen(() => {
      if (server.media.files.length + 1 >= accepted) {
        kill();
      }
    });
  }
  const watch = setInterval(() => {
    if (server.media.requests.length >= request) {
      kill();
    }
  }, 1);
  return () => {
    clearInterval(watch);
    clearTimeout(latest);
  };
}

/** How long a run on real time takes to its first request, where the journal knows of a job. */
async function timeToWork(server: FakeServer, folder: string): Promise<number | undefined> {
  const { baseUrl, apiKey } = server.media;
  const journal = fileJournal(join(folder, 'jobs.jsonl'));
  const { jobs } = await new MediaClient({ baseUrl, apiKey, journal }).journal.pending();
  if (jobs.length === 0) {
    return undefined;
  }
  const before = server.media.requests.length;
  const startedAt = performance.now();
  const run = startQueue(server, folder, films, 1);
  while (server.media.requests.length === before && performance.now() - startedAt < 20_000) {
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  run.kill();
  await run.end;
  return performance.now() - startedAt;
}

/** No film is lost, none was made twice; the answer is how many are unclear. */
function check(reports: readonly CrashReport[], { media }: FakeServer): number {
  const made = (prompt: string) => media.files.filter(({ settings }) => settings.prompt === prompt);
  const unclear = new Set(reports.at(-1)!.unclear);
  // One run may give up on a claim of the other one whose answer comes later, on a busy machine.
  const known = reports.flatMap(({ results }) => results.filter(({ fileId }) => fileId));
  const listed = new Set([...unclear, ...known.map(({ prompt }) => prompt)]);
  for (const { results } of reports) {
    const indexes = results.map(({ index }) => index).sort((a, b) => a - b);
    expect(indexes).toEqual([...Array(films).keys()]);
    for (const { prompt, fileId, code, error } of results) {
      const fileIds = made(prompt).map((file) => file.fileId);
      expect(fileIds.length).toBeLessThanOrEqual(1);
      if (fileId !== undefined) {
        expect(fileIds).toEqual([fileId]);
      } else {
        expect(code, JSON.stringify(error)).toBe('OUTCOME_UNKNOWN');
        expect(listed).toContain(prompt);
      }
    }
  }
  return unclear.size;
}
