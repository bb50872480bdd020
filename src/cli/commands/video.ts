import type { MediaClient, MediaFile, VideoJob, QueueProgress, QueueResult } from 'postreel/media';
import { media as schemas } from 'postreel/schemas';
import { fingerprint } from '../../core/fingerprint.js';
import { withFormat } from '../../media/generate/media-job.js';
import { collectData, createCommand, createOption } from '../command.js';
import type { Context } from '../context.js';
import { readText } from '../environment.js';
import { CommandEnd } from '../exit-codes.js';
import { startProgress, formatWait } from '../progress.js';
import { formatCount } from '../table.js';
import { freeKey, mustBeMade, lookUpJobs, describePaidJobs, type PaidJob } from './paid-jobs.js';
import {
  endCommand,
  createJournalOption,
  makeFolderOf,
  createMediaWithJournal,
  percentOf,
  requireValid,
  save,
  targetOf,
  reportFailed,
  reportSaved,
  type Saving,
  type SaveTarget,
} from './saving.js';

interface VideoInput {
  readonly idea?: string;
  readonly script?: string;
  readonly url?: string;
  readonly voice?: string;
  readonly set?: Record<string, unknown>;
  readonly jobs?: string;
  readonly out?: string;
  readonly journal: string;
  readonly again?: boolean;
}

/** `postreel video` */
export const video = createCommand<VideoInput>({
  name: 'video',
  about: 'make one or more videos, wait for them and save the files',
  more: 'The same video is paid for once: run the command again after an interruption, and it makes only what is missing',
  options: [
    createOption('--idea <text>', 'topic of the video'),
    createOption('--script <text>', 'text of the video'),
    createOption('--url <address>', 'article to make the video of'),
    createOption('--voice <id>', 'voice of the narrator'),
    createOption('--set <name=value>', 'another field, such as aspectRatio=9:16', collectData),
    createOption('--jobs <path>', 'JSON file with a list of videos, instead of the options above'),
    createOption('-o, --out <path>', 'file, or folder for several (default: <file id>.mp4)'),
    createOption('--again', 'make, and pay for, what was made before once more'),
    createJournalOption(),
  ],
  examples: [
    'video --idea "Why cats purr" --voice voice_1 --out cats.mp4',
    'video --script "$(cat script.txt)" --voice voice_1 --set aspectRatio=9:16 --yes',
    'video --jobs videos.json --out videos/',
  ],
  plan: async (input, context) => {
    const jobs = await readJobs(input);
    const payload = jobs.map(withFormat);
    requireValid(schemas.generate.video.body, { payload }, (field) =>
      jobs.length === 1 ? field.replace('payload[0].', '') : field,
    );
    const target = await targetOf(input.out, { count: jobs.length });
    const media = await createMediaWithJournal(context, input.journal);
    const { journal, again: isAgain = false } = input;
    const keys = keysOf(payload);
    const { ledger } = media.engineHost();
    const onces = payload.flatMap(
      (job) => ledger?.inQueue(queueName, `key ${keys.get(job)}`, job) ?? [],
    );
    const known = await lookUpJobs(onces, { media, journal, context, isAgain });
    const toMake = payload.filter((_, index) => known[index] && mustBeMade(known[index]));
    return {
      action: `Make ${formatCount(jobs.length, 'video')}`,
      facts: {
        ...describePaidJobs(known, 'video'),
        minutes: minutesOf(toMake),
        'saved to': input.out ?? 'this folder',
        journal,
      },
      changesNothing: toMake.length === 0,
      run: async () => {
        await makeFolderOf(target);
        await runQueue(media, { jobs: payload, known, keys }, target, context);
      },
    };
  },
});

// Journals contain the name and the keys, so they never change.
const queueName = 'postreel video';

/** The videos of a command, with the state and the key of each. */
interface Videos {
  readonly jobs: readonly VideoJob[];
  readonly known: readonly PaidJob[];
  readonly keys: ReadonlyMap<VideoJob, string>;
}

/** A key for each video: its content, and the number of equal videos before it. */
function keysOf(jobs: readonly VideoJob[]): Map<VideoJob, string> {
  const counts = new Map<string, number>();
  const keys = new Map<VideoJob, string>();
  for (const job of jobs) {
    const content = fingerprint(JSON.stringify(Object.entries(job).sort(compareNames)));
    const before = counts.get(content) ?? 0;
    counts.set(content, before + 1);
    keys.set(job, `${content} ${before}`);
  }
  return keys;
}

function compareNames(
  [one]: readonly [string, unknown],
  [other]: readonly [string, unknown],
): number {
  return one < other ? -1 : 1;
}

/** Yields the videos in their order. Frees the key of a video right before the queue makes it again. */
async function* freeKeys({ jobs, known }: Videos, media: MediaClient): AsyncGenerator<VideoJob> {
  for (const [index, job] of jobs.entries()) {
    const before = known[index];
    if (before && before.state !== 'paid') {
      await freeKey(before, media);
    }
    yield job;
  }
}

/** The minutes of the videos, which determine their cost. */
function minutesOf(jobs: readonly VideoJob[]): string {
  const known = jobs.flatMap(({ duration }) => duration ?? []);
  const sum = String(known.reduce((minutes, each) => minutes + each, 0));
  if (known.length === jobs.length) {
    return sum;
  }
  const open = 'as many as the service chooses';
  return known.length === 0
    ? open
    : `${sum}, and ${open} for ${jobs.length - known.length} of them`;
}

async function runQueue(
  media: MediaClient,
  videos: Videos,
  target: SaveTarget,
  context: Context,
): Promise<void> {
  const { signal } = context;
  const { jobs, known, keys } = videos;
  const progress = startProgress(context);
  const saving: Saving = { target, progress, signal };
  const paths = new Map<number, string>();
  const main = jobs.length === 1 ? 'video 1' : 'all';
  const nameOf = (fileId: string) => (jobs.length === 1 ? main : fileId);
  let done = 0;
  const showMain = (note: string) => progress.show(main, { done, total: jobs.length, note });
  showMain('waiting for the service');
  media.on('throttled', (wait) => showMain(formatWait(wait)));
  // The queue reads a list at once, and starts the longest videos first.
  const isFreed = known.some(({ state, job }) => job && state !== 'paid');
  const queue = media.queue(isFreed ? freeKeys(videos, media) : jobs, {
    name: queueName,
    key: (job) => keys.get(job as VideoJob) ?? '', // as: the jobs are those of this list
    signal,
    onProgress: (all) => {
      done = all.done + all.failed;
      if (jobs.length > 1) {
        showMain(sumOf(all));
      }
    },
    save: async (file, { index }) => {
      paths.set(index, await save(file, { name: nameOf(file.fileId), kind: 'video' }, saving));
    },
  });
  media.on('job:update', ({ fileId, status, progress: share }) =>
    progress.show(nameOf(fileId), { done: percentOf(share), total: 100, note: status }),
  );
  let failures = 0;
  try {
    for await (const result of queue) {
      // The queue does not save a file that an earlier run has saved.
      const { file, index } = result;
      const path = paths.get(index) ?? (file && (await saveAgain(file, saving)));
      failures += reportResult(result, path, context);
      progress.end(nameOf(result.job?.fileId ?? ''));
    }
  } catch (error) {
    if (!signal.aborted) {
      throw error;
    }
  } finally {
    progress.stop();
  }
  endCommand(failures, context);
}

function saveAgain(file: MediaFile, saving: Saving): Promise<string> {
  return save(file, { name: file.fileId, kind: 'video' }, saving);
}

/** The text after the progress bar of all videos. */
function sumOf({ done, failed, total = 0 }: QueueProgress): string {
  const failures = failed === 0 ? '' : `, ${failed} failed`;
  return `${done} of ${total} done${failures}`;
}

/** Prints the result of one video; returns the number of failures. */
function reportResult(result: QueueResult, path: string | undefined, context: Context): 0 | 1 {
  const name = result.job?.fileId ?? `video ${result.index + 1}`;
  if (result.error !== undefined || path === undefined) {
    reportFailed(name, result.error, context);
    return 1;
  }
  reportSaved({ fileId: name, path }, context);
  return 0;
}

async function readJobs(input: VideoInput): Promise<VideoJob[]> {
  const { idea, script, url, voice, set, jobs } = input;
  if (jobs !== undefined) {
    const list: unknown = JSON.parse(await readText(jobs));
    if (!Array.isArray(list) || list.length === 0) {
      throw new CommandEnd('rejected', `${jobs} must be a list of videos that is not empty.`);
    }
    return list as VideoJob[]; // checked before the question
  }
  const sources = [
    idea !== undefined && { workflowType: 'idea', prompt: idea },
    script !== undefined && { workflowType: 'script', content: script },
    url !== undefined && { workflowType: 'url', content: url },
  ].filter((source) => source !== false);
  const [source] = sources;
  if (source === undefined || sources.length > 1 || voice === undefined) {
    throw new CommandEnd('usage', 'Use --voice with one of --idea, --script and --url, or --jobs.');
  }
  const job = { ...source, workflowFormat: 'video', voiceId: voice, ...set };
  return [job as VideoJob]; // checked before the question
}
