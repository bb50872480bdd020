import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { MediaClient } from 'postreel';
import { fileJournal } from 'postreel/node';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { inTerminal, piped } from '../support/cli/command.js';
import { startScene, type Scene } from '../support/cli/scene.js';
import { emptyFolder } from '../support/empty-folder.js';
import { playedMp3 } from '../support/media/sound.js';

const audioEndpoint = 'POST /v1/generate/audio';
const videoEndpoint = 'POST /v1/generate/video';
const sentence = 'It was a dark and stormy night. ';
const secondsPerWord = 60 / 150;

/** A service, whose key may make ten calls, and a folder with a book of so many parts. */
async function startShelf(parts: number) {
  const scene = await startScene();
  onTestFinished(() => scene.server.close());
  const cwd = emptyFolder();
  const book = sentence.repeat(Math.ceil(((parts - 0.5) * 10_000) / sentence.length));
  writeFileSync(join(cwd, 'book.txt'), book);
  const args = ['audio', '--file', 'book.txt', '--voice', 'voice_1', '--out', 'book.mp3'];
  const { env } = scene;
  return {
    scene,
    cwd,
    book,
    /** `postreel audio` of the book. */
    audio: (...more: string[]) => piped([...args, ...more], { cwd, env }),
    run: (...command: string[]) => piped(command, { cwd, env }),
    /** Starts the command, and kills it once it has submitted so many parts. */
    killedAfter: (submitted: number) => killedAfter([...args, '--yes'], submitted, { scene, cwd }),
  };
}

/** A command that is killed once the service has taken so many jobs, while it waits to submit the next. */
async function killedAfter(
  args: readonly string[],
  submitted: number,
  { scene, cwd }: { readonly scene: Scene; readonly cwd: string },
): Promise<void> {
  const { media } = scene.server;
  const endpoint = args[0] === 'audio' ? audioEndpoint : videoEndpoint;
  const stopRefusing = media.fail(endpoint, { status: 429, retryAfter: 300, after: submitted });
  const requestsOf = () => media.requests.filter((request) => request.endpoint === endpoint);
  const requestsBefore = requestsOf().length;
  const terminal = inTerminal(args, { cwd, env: scene.env });
  const { journal } = journalOf(scene, cwd);
  await vi.waitFor(async () => {
    const states = (await journal.list()).map(({ state }) => state);
    expect(requestsOf()).toHaveLength(requestsBefore + submitted + 1);
    expect(new Set(states)).toEqual(new Set(['answered']));
  }, 60_000);
  terminal.kill('SIGKILL');
  await terminal.ended;
  stopRefusing();
}

/** A client over the journal of the command. */
function journalOf({ server }: Scene, cwd: string): MediaClient {
  const { apiKey, baseUrl } = server.media;
  const journal = fileJournal(join(cwd, 'postreel-jobs.jsonl'));
  return new MediaClient({ apiKey, baseUrl, journal });
}

function expectWholeBook(cwd: string, book: string): void {
  const { seconds, strays } = playedMp3(readFileSync(join(cwd, 'book.mp3')));
  expect(strays).toEqual([]);
  expect(Math.abs(seconds - book.trim().split(' ').length * secondsPerWord)).toBeLessThan(5);
}

describe('postreel audio', () => {
  it('continues after a kill, pays for no part twice, and never saves a part as the whole', async () => {
    const { scene, cwd, book, audio, run, killedAfter: kill } = await startShelf(5);
    await kill(1);
    const resumed = await run('jobs', 'resume', '--out', 'book.mp3');
    expect(resumed.code).toBe(2);
    expect(resumed.stderr).toContain('`postreel audio`');
    const waited = await run('jobs', 'wait', scene.server.media.files[0]!.fileId, '-o', 'book.mp3');
    expect([waited.code, existsSync(join(cwd, 'book.mp3'))]).toEqual([2, false]);
    const plan = await audio();
    expect(plan.code).toBe(8);
    expect(plan.stdout).toContain('1 of 5 parts are paid for');
    expect((await audio('--yes')).code).toBe(0);
    expectWholeBook(cwd, book);
    expect(scene.server.media.files).toHaveLength(5);
  });

  it('saves the files of paid jobs without a question, under any name', async () => {
    const { scene, cwd, audio, run } = await startShelf(2);
    expect((await audio('--yes')).code).toBe(0);
    const again = await audio('--out', 'copy.mp3');
    expect([again.code, JSON.parse(again.stdout)]).toMatchObject([0, { path: 'copy.mp3' }]);
    expect(readFileSync(join(cwd, 'copy.mp3'))).toEqual(readFileSync(join(cwd, 'book.mp3')));
    const short = ['audio', 'Good morning!', '--voice', 'voice_1', '--out', 'morning.mp3'];
    expect((await run(...short, '--yes')).code).toBe(0);
    expect((await run(...short)).code).toBe(0);
    const other = await run(...short, '--rate', '1.5');
    expect([other.code, other.stdout.includes('paid for')]).toEqual([8, false]);
    expect(scene.server.media.files).toHaveLength(3);
  });

  it('makes a failed part, and a part whose file is gone, again after a yes', async () => {
    const { scene, cwd, book, audio } = await startShelf(3);
    const { media } = scene.server;
    let made = 0;
    media.outcome({ status: 'error' }, () => ++made === 2);
    expect((await audio('--yes')).code).toBe(7);
    const repair = media.fail('GET /cdn/{file}', { status: 410, times: 100 });
    const plan = await audio();
    expect(plan.code).toBe(8);
    expect(plan.stdout).toContain('1 failed or canceled, 2 lost');
    expect(media.files).toHaveLength(3);
    repair();
    // Another failure may pass: only the part that failed is left to make.
    media.fail('GET /cdn/{file}', { status: 503, times: 2 });
    const later = await audio();
    expect(later.stdout).toContain('2 of 3 parts are paid for');
    expect((await audio('--yes')).code).toBe(0);
    expect(media.files).toHaveLength(4);
    expectWholeBook(cwd, book);
  });

  it('waits for a part that is in progress', async () => {
    const { scene, audio, killedAfter: kill } = await startShelf(2);
    scene.server.media.outcome({ after: '25s' });
    await kill(1);
    const plan = await audio();
    expect(plan.stdout).toContain('1 of 2 parts are paid for');
    expect(plan.stdout).not.toContain('made again');
  });

  it('makes everything again with --again, and continues without it after a kill', async () => {
    const { scene, cwd, audio } = await startShelf(2);
    const { media } = scene.server;
    expect((await audio('--yes')).code).toBe(0);
    const plan = await audio('--again');
    expect([plan.code, plan.stdout.includes('2 because of --again')]).toEqual([8, true]);
    const args = ['audio', '--file', 'book.txt', '--voice', 'voice_1', '--out', 'book.mp3'];
    await killedAfter([...args, '--again', '--yes'], 1, { scene, cwd });
    expect(media.files).toHaveLength(3);
    // The key of the second part was freed right before it was made again, and nothing was made.
    expect((await audio()).stdout).toContain('1 of 2 parts are paid for');
    const done = await audio('--yes');
    if (done.code === 5) {
      // On a busy machine, the process had already claimed the second part when it was killed: its outcome is unknown.
      expect(media.files).toHaveLength(3);
      return;
    }
    const [first, second] = media.files.slice(2).map(({ fileId }) => fileId);
    expect([done.code, JSON.parse(done.stdout)]).toMatchObject([0, { fileIds: [first, second] }]);
    expect(media.files).toHaveLength(4);
  });

  it('stops at a part that may be paid for, until it is settled', async () => {
    const { scene, cwd, audio, run } = await startShelf(3);
    const { media } = scene.server;
    media.fail(audioEndpoint, { loseAnswer: true, after: 1 });
    expect((await audio('--yes')).code).toBe(5);
    for (const args of [[], ['--yes'], ['--again', '--yes']]) {
      const { code, stderr } = await audio(...args);
      expect([code, stderr.includes('`postreel jobs pending`')]).toEqual([5, true]);
    }
    expect(media.files).toHaveLength(2);
    const client = journalOf(scene, cwd);
    const { unknown } = await client.journal.pending();
    await client.journal.resolve(unknown[0]!.id, [media.files[1]!.fileId]);
    const { jobs } = await client.journal.pending();
    expect(jobs.map(({ part }) => part !== undefined)).toEqual([true, true]);
    expect((await run('jobs', 'resume', '--out', 'book.mp3')).code).toBe(2);
    expect((await audio('--yes')).code).toBe(0);
    expect(media.files).toHaveLength(3);
  });

  it.each([
    ['white space', ['   \n ', '--voice', 'v'], 'white space'],
    ['a rate that is too high', ['Hi', '--voice', 'v', '--rate', '5'], '`playbackRate`'],
  ])('rejects %s before the question', async (_name, args, words) => {
    const { run, cwd } = await startShelf(1);
    const { code, stderr } = await run('audio', ...args);
    expect([code, stderr.includes(words)]).toEqual([4, true]);
    expect(readdirSync(cwd)).toEqual(['book.txt']);
  });
});

describe('postreel video', () => {
  it('continues after a kill, and makes no video of the list twice', async () => {
    const { scene, cwd, run } = await startShelf(1);
    const { media } = scene.server;
    const list = Array.from({ length: 3 }, (_, index) => {
      return { workflowType: 'idea', voiceId: `voice_${index}`, prompt: 'Why cats purr' };
    });
    writeFileSync(join(cwd, 'videos.json'), JSON.stringify([...list, list[0]]));
    const args = ['video', '--jobs', 'videos.json', '--out', 'videos/'];
    await killedAfter([...args, '--yes'], 1, { scene, cwd });
    const made = media.files.length;
    const plan = await run(...args);
    expect(plan.code).toBe(8);
    expect(plan.stdout).toContain(`${made} of 4 videos are paid for`);
    expect((await run(...args, '--yes')).code).toBe(0);
    expect([media.files.length, readdirSync(join(cwd, 'videos')).length]).toEqual([4, 4]);
    const copies = await run('video', '--jobs', 'videos.json', '--out', 'copies/');
    expect([copies.code, readdirSync(join(cwd, 'copies')).length]).toEqual([0, 4]);
    expect(media.files).toHaveLength(4);
  });

  it('makes a failed video again, and all videos with --again', async () => {
    const { scene, run } = await startShelf(1);
    const { media } = scene.server;
    media.outcome({ status: 'canceled' });
    const args = ['video', '--idea', 'Why cats purr', '--voice', 'voice_1', '--out', 'cats.mp4'];
    expect((await run(...args, '--yes')).code).toBe(7);
    const plan = await run(...args);
    expect([plan.code, plan.stdout.includes('1 failed or canceled')]).toEqual([8, true]);
    expect((await run(...args, '--yes')).code).toBe(0);
    expect((await run(...args)).code).toBe(0);
    expect(media.files).toHaveLength(2);
    expect((await run(...args, '--again')).code).toBe(8);
    expect((await run(...args, '--again', '--yes')).code).toBe(0);
    expect(media.files).toHaveLength(3);
  });
});
