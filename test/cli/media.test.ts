import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { MediaClient } from 'postreel';
import { fileJournal } from 'postreel/node';
import { startFakeServer } from 'postreel/testing';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { hasColors, inTerminal, piped } from '../support/cli/command.js';
import { emptyFolder } from '../support/empty-folder.js';
import { startScene, type Scene } from '../support/cli/scene.js';
import { screenOf, textOf } from '../support/cli/screen.js';
import { playedMp3 } from '../support/media/sound.js';

let scene: Scene;
beforeAll(async () => {
  scene = await startScene();
});
afterAll(() => scene.server.close());

const voice = ['--voice', 'voice_1'];
const bars = /[█░]/;

describe.concurrent('in a terminal', () => {
  it.each([
    ['color and width', { columns: 100 }, true],
    ['neither', { columns: 40, noColor: '1' }, false],
  ])('postreel audio saves the speech and shows a bar, with %s', async (_name, look, isWide) => {
    const cwd = emptyFolder();
    const env = { ...scene.env, ...('noColor' in look && { NO_COLOR: look.noColor }) };
    const args = ['audio', 'Good morning!', ...voice, '--out', 'morning.mp3', '--yes'];
    const terminal = inTerminal(args, { cwd, env, columns: look.columns });
    expect([await terminal.ended, terminal.text]).toEqual([
      0,
      expect.stringContaining('saved morning.mp3'),
    ]);
    expect(bars.test(terminal.text)).toBe(isWide);
    expect(terminal.text).toContain('100%');
    expect(playedMp3(readFileSync(join(cwd, 'morning.mp3'))).strays).toEqual([]);
    const { stdout } = await piped(['jobs', 'pending'], { cwd, env });
    expect(JSON.parse(stdout)).toEqual({
      jobs: [],
      finished: [],
      unknown: [],
      mayBeAnswered: [],
    });
  });

  it.each([
    ['color and width', { columns: 100 }, true],
    ['neither', { columns: 40, noColor: '1' }, false],
  ])('postreel video asks with a plan, then saves the video, with %s', async (_n, look, isWide) => {
    const cwd = emptyFolder();
    const env = { ...scene.env, ...('noColor' in look && { NO_COLOR: look.noColor }) };
    const args = ['video', '--idea', 'Why cats purr', ...voice, '--out', 'cats.mp4'];
    const terminal = inTerminal(args, { cwd, env, columns: look.columns });
    await terminal.until('Go on? [y/N]');
    expect(terminal.text).toContain(
      'Make 1 video:\n  minutes: as many as the service chooses\n  saved to: cats.mp4',
    );
    terminal.type('y\r');
    expect([await terminal.ended, terminal.text]).toEqual([
      0,
      expect.stringContaining('saved cats.mp4'),
    ]);
    expect(bars.test(terminal.text)).toBe(isWide);
    // Lines that are printed while bars are shown are complete, and above the bars.
    const screen = (await screenOf(terminal.written, look.columns)).map(textOf);
    expect(screen.slice(-2)).toEqual(['saved cats.mp4', expect.stringMatching(/^video 1 .*100%/)]);
    expect(readdirSync(cwd).sort()).toEqual(['cats.mp4', 'postreel-jobs.jsonl']);
  });

  it('postreel video shows one bar for all of many videos, and takes away those that are done', async () => {
    const own = await startScene(); // ten calls are all that a key may make
    const cwd = emptyFolder();
    const jobs = Array.from({ length: 6 }, (_, index) => {
      return {
        workflowType: 'idea',
        workflowFormat: 'video',
        voiceId: 'v',
        prompt: `Cat ${index}`,
      };
    });
    writeFileSync(join(cwd, 'jobs.json'), `\uFEFF${JSON.stringify(jobs)}`); // as PowerShell writes it
    const args = ['video', '--jobs', 'jobs.json', '--yes'];
    const terminal = inTerminal(args, { cwd, env: own.env });
    expect(await terminal.ended).toBe(0);
    await own.server.close();
    const screen = (await screenOf(terminal.written)).map(textOf);
    expect(screen.filter((line) => line.startsWith('saved '))).toHaveLength(6);
    expect(screen.filter((line) => bars.test(line))).toEqual([
      expect.stringMatching(/^all .*100% 6 of 6 done/),
    ]);
  });

  it('postreel jobs resume saves the files of jobs that Ctrl+C interrupted', async () => {
    const { env } = scene;
    const cwd = emptyFolder();
    const video = ['video', '--idea', 'Why cats sleep', ...voice, '--yes'];
    const first = inTerminal(video, { cwd, env });
    await vi.waitFor(() => expect(submitted('Why cats sleep')).toBe(true), 10_000);
    first.type('\u0003');
    expect([await first.ended, first.text]).toEqual([
      130,
      expect.stringContaining('`postreel jobs resume` waits for them'),
    ]);
    const pending = inTerminal(['jobs', 'pending'], { cwd, env });
    expect([await pending.ended, pending.text]).toEqual([0, expect.stringContaining('not saved')]);
    const resumed = inTerminal(['jobs', 'resume', '--out', 'cats.mp4'], { cwd, env });
    expect([await resumed.ended, resumed.text]).toEqual([
      0,
      expect.stringContaining('saved cats.mp4'),
    ]);
    const none = inTerminal(['jobs', 'pending'], { cwd, env, columns: 40 });
    expect([await none.ended, none.text]).toEqual([0, 'No jobs.\n']);
  });
});

describe.concurrent('a service that is gone while a command waits', () => {
  it('is reported in one line, with the time since then; the submitted jobs can be resumed', async () => {
    const cwd = emptyFolder();
    const server = await startFakeServer({
      media: { clock: { mode: 'real' }, durations: () => '1h' },
    });
    const { apiKey, baseUrl, files } = server.media;
    const env = { MEDIA_API_KEY: apiKey, MEDIA_BASE_URL: baseUrl };
    const terminal = inTerminal(['audio', 'Good night!', ...voice, '--yes'], { cwd, env });
    await vi.waitFor(() => expect(files).toHaveLength(1), 60_000);
    await server.close();
    await terminal.until('warning: Status checks have failed since 20');
    terminal.type('\u0003');
    expect(await terminal.ended).toBe(130);
    expect(terminal.text).toContain('`postreel jobs resume` waits for them');
  });
});

describe.concurrent('jobs by their ids, in a terminal', () => {
  it.each([
    ['color and width', { columns: 100 }, {}],
    ['neither', { columns: 40 }, { NO_COLOR: '1' }],
  ])('postreel jobs wait and dismiss, with %s', async (_name, screen, look) => {
    const cwd = emptyFolder();
    const env = { ...scene.env, ...look };
    const job = await submit(`Good night with ${screen.columns} columns!`);
    const args = ['jobs', 'wait', job, '--out', 'night.mp3'];
    const waited = inTerminal(args, { cwd, env, ...screen });
    expect([await waited.ended, waited.text]).toEqual([
      0,
      expect.stringContaining('saved night.mp3'),
    ]);
    expect(hasColors(waited.written)).toBe(!('NO_COLOR' in look));
    const call = await loseAnswer(cwd);
    const dismissed = inTerminal(['jobs', 'dismiss', call], { cwd, env, ...screen });
    await dismissed.until('Go on? [y/N]');
    dismissed.type('y\r');
    expect([await dismissed.ended, dismissed.text]).toEqual([
      0,
      expect.stringContaining(`dismissed ${call}`),
    ]);
  });
});

describe.concurrent('without a terminal', () => {
  it('postreel jobs wait saves a file by its id, as one line of JSON', async () => {
    const { env } = scene;
    const cwd = emptyFolder();
    const job = await submit('Good evening!');
    const { code, stdout } = await piped(['jobs', 'wait', job, '--out', 'files/'], { cwd, env });
    expect([code, JSON.parse(stdout)]).toEqual([
      0,
      { fileId: job, path: expect.any(String) as string },
    ]);
    const { path } = JSON.parse(stdout) as { path: string };
    expect(existsSync(join(cwd, path))).toBe(true);
  });

  it('postreel jobs wait exits with 7 after a failure', async () => {
    const { env } = scene;
    const content = 'This one fails';
    scene.server.media.outcome(
      { status: 'error' },
      ({ settings }) => settings['content'] === content,
    );
    const job = await submit(content);
    const { code, stdout } = await piped(['jobs', 'wait', job], { env });
    expect([code, JSON.parse(stdout)]).toEqual([
      7,
      { name: job, error: expect.any(String) as string },
    ]);
  });

  it('postreel jobs dismiss forgets a job, after a plan', async () => {
    const { env } = scene;
    const cwd = emptyFolder();
    const call = await loseAnswer(cwd);
    const listed = inTerminal(['jobs', 'pending'], { cwd, env });
    const row = new RegExp(`${call}  1 job  answer lost \\d{4}-\\d\\d-\\d\\d: may exist\\r?\\n`);
    expect([await listed.ended, listed.text]).toEqual([0, expect.stringMatching(row)]);
    const planned = await piped(['jobs', 'dismiss', call], { cwd, env });
    expect([planned.code, JSON.parse(planned.stdout)]).toMatchObject([8, { confirmed: false }]);
    const unknown = await piped(['jobs', 'dismiss', 'call_2', '--yes'], { cwd, env });
    expect(unknown.code).toBe(4);
    const done = await piped(['jobs', 'dismiss', call, '--yes'], { cwd, env });
    expect([done.code, JSON.parse(done.stdout)]).toEqual([0, { dismissed: call }]);
    const { stdout } = await piped(['jobs', 'pending'], { cwd, env });
    expect(JSON.parse(stdout)).toMatchObject({ unknown: [] });
  });

  it('postreel jobs pending shows at once the call of a process that was killed', async () => {
    const { env } = scene;
    const cwd = emptyFolder();
    const journal = fileJournal(join(cwd, 'postreel-jobs.jsonl'));
    const { apiKey, baseUrl } = scene.server.media;
    // It never hears of a response, like a process that was killed.
    const never = () => new Promise<never>(() => undefined);
    const dying = new MediaClient({ apiKey, baseUrl, journal, fetch: never });
    const speech = { content: 'Good night!', voiceId: 'voice_1' };
    dying.generate.audio(speech).catch(() => undefined);
    await expect.poll(async () => (await journal.list('once/')).length).toBe(1);
    const { code, stdout } = await piped(['jobs', 'pending'], { cwd, env });
    const { mayBeAnswered, ...rest } = JSON.parse(stdout) as {
      mayBeAnswered: { id: string; unknownAt: string }[];
    };
    expect([code, rest]).toEqual([0, { jobs: [], finished: [], unknown: [] }]);
    expect(mayBeAnswered).toMatchObject([{ jobs: [speech] }]);
    const id = mayBeAnswered[0]?.id ?? '';
    const shown = inTerminal(['jobs', 'pending'], { cwd, env });
    const row = new RegExp(`${id}  1 job  may be answered until \\d\\d:\\d\\d:\\d\\dZ\\r?\\n`);
    expect([await shown.ended, shown.text]).toEqual([0, expect.stringMatching(row)]);
    const refused = await piped(['jobs', 'dismiss', id, '--yes'], { cwd, env });
    expect(refused.code).not.toBe(0);
    expect(refused.stderr).toContain('ONCE_UNDER_WAY');
    const resumed = await piped(['jobs', 'resume'], { cwd, env });
    const note = /for 1 job may still be answered, until \d{4}-\d\d-\d\dT\d\d:\d\d:\d\d/;
    expect(resumed.stderr).toMatch(note);
  });

  it.each([
    ['a video without --yes', ['--idea', 'Cats'], 8],
    ['a rule of the service', ['--idea', 'Cats', '--set', 'duration=99'], 4],
  ])('nothing is submitted: %s', async (_name, args, exitCode) => {
    const { env } = scene;
    const cwd = emptyFolder();
    const { code, stderr } = await piped(['video', ...args, ...voice], { cwd, env });
    expect(code).toBe(exitCode);
    expect(stderr).toContain('othing was');
    expect(existsSync(join(cwd, 'postreel-jobs.jsonl'))).toBe(false);
  });

  it('a list of videos in a file is made in one folder', async () => {
    const { env, server } = await startScene(); // ten calls are all that a key may make
    onTestFinished(() => server.close());
    const cwd = emptyFolder();
    const one = { workflowType: 'idea', workflowFormat: 'video', voiceId: 'voice_1' };
    const list = ['Why cats climb', 'Why cats jump'].map((prompt) => ({ ...one, prompt }));
    writeFileSync(join(cwd, 'videos.json'), JSON.stringify(list));
    const args = ['video', '--jobs', 'videos.json', '--out', 'videos', '--yes'];
    const { code, stdout } = await piped(args, { cwd, env });
    expect(code).toBe(0);
    expect(stdout.trim().split('\n')).toHaveLength(2);
    expect(readdirSync(join(cwd, 'videos'))).toHaveLength(2);
    expect(readFileSync(join(cwd, 'postreel-jobs.jsonl'), 'utf8')).toMatch(/end[\\":]+saved/);
  });
});

describe.concurrent('the target of --out', () => {
  let own: Scene; // ten calls are all that a key may make
  beforeAll(async () => {
    own = await startScene();
  });
  afterAll(() => own.server.close());

  const article = 'It was a dark and stormy night. '.repeat(400); // two parts

  /** A folder with a long text, and `postreel audio` of it. */
  async function spoken(out: string) {
    const cwd = emptyFolder();
    writeFileSync(join(cwd, 'article.txt'), article);
    const args = ['audio', '--file', 'article.txt', ...voice, '--out', out];
    const plan = await piped(args, { cwd, env: own.env });
    expect(readdirSync(cwd)).toEqual(['article.txt']);
    const end = await piped([...args, '--yes'], { cwd, env: own.env });
    const { stdout } = await piped(['jobs', 'pending'], { cwd, env: own.env });
    expect(JSON.parse(stdout)).toMatchObject({ jobs: [], unknown: [] });
    return { cwd, plan, end, lines: end.stdout.trim().split('\n') };
  }

  it('a file for a long text is one file that plays the whole text', async () => {
    const { cwd, plan, end, lines } = await spoken('art.mp3');
    expect(plan.stdout).toContain('joined to one file');
    expect([end.code, end.stderr]).toEqual([0, expect.any(String) as string]);
    expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual([
      { fileIds: [expect.any(String), expect.any(String)], path: 'art.mp3' },
    ]);
    expect(readdirSync(cwd).sort()).toEqual(['art.mp3', 'article.txt', 'postreel-jobs.jsonl']);
    const { seconds, shownSeconds, strays } = playedMp3(readFileSync(join(cwd, 'art.mp3')));
    expect([strays, shownSeconds]).toEqual([[], expect.closeTo(seconds, 6)]);
    const words = article.trim().split(' ').length;
    expect(Math.abs(seconds - (words * 60) / 150)).toBeLessThan(3);
  });

  it('a folder for a long text has a file for each part', async () => {
    const { cwd, end, lines } = await spoken('art/');
    expect([end.code, lines.length]).toEqual([0, 2]);
    expect(readdirSync(join(cwd, 'art')).map((name) => name.slice(-4))).toEqual(['.mp3', '.mp3']);
  });

  it('jobs wait joins parts of speech, in the order of their ids', async () => {
    const cwd = emptyFolder();
    const media = new MediaClient({
      apiKey: own.server.media.apiKey,
      baseUrl: own.server.media.baseUrl,
      journal: fileJournal(join(cwd, 'postreel-jobs.jsonl')),
    });
    const parts = await media.generate.longAudio({ content: article, voiceId: 'voice_1' });
    const ids = parts.map(({ fileId }) => fileId);
    const args = ['jobs', 'wait', ...ids, '--out', 'art.mp3'];
    const { code, stdout } = await piped(args, { cwd, env: own.env });
    expect([code, JSON.parse(stdout)]).toEqual([0, { fileIds: ids, path: 'art.mp3' }]);
    expect(playedMp3(readFileSync(join(cwd, 'art.mp3'))).strays).toEqual([]);
  });

  it('a file for several videos is rejected before anything is made', async () => {
    const cwd = emptyFolder();
    const one = { workflowType: 'idea', voiceId: 'voice_1' };
    const list = ['Why cats nap', 'Why cats yawn'].map((prompt) => ({ ...one, prompt }));
    writeFileSync(join(cwd, 'videos.json'), JSON.stringify(list));
    const args = ['video', '--jobs', 'videos.json', '--out', 'cats.mp4', '--yes'];
    const { code, stderr } = await piped(args, { cwd, env: own.env });
    expect(code).toBe(2);
    expect(stderr).toContain(
      '--out cats.mp4 is one file, and there are 2. Give a folder: --out cats/',
    );
    expect([submitted('Why cats nap', own), readdirSync(cwd)]).toEqual([false, ['videos.json']]);
  });
});

/** Has the service accepted this video? */
function submitted(prompt: string, { server } = scene): boolean {
  return server.media.files.some(({ settings }) => settings['prompt'] === prompt);
}

/** Submits a speech as another program would. */
async function submit(content: string): Promise<string> {
  const { media } = scene.server;
  const response = await fetch(`${media.baseUrl}/v1/generate/audio`, {
    method: 'POST',
    headers: { authorization: `Bearer ${media.apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ content, voiceId: 'voice_1' }),
  });
  return ((await response.json()) as { fileId: string }).fileId; // as: what the document shows
}

/** A call whose answer was lost on its way: the id under which the journal of this folder lists it. */
async function loseAnswer(folder: string): Promise<string> {
  const { apiKey, baseUrl } = scene.server.media;
  const media = new MediaClient({
    apiKey,
    baseUrl,
    journal: fileJournal(join(folder, 'postreel-jobs.jsonl')),
    fetch: () => Promise.reject(new TypeError('terminated')),
  });
  const call = media.generate.audio({ content: 'Good night!', voiceId: 'voice_1' });
  await expect(call).rejects.toMatchObject({ outcome: 'unknown' });
  const { unknown } = await media.journal.pending();
  return unknown[0]!.id;
}
