import { mkdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, extname, join } from 'node:path';
import type { MediaClient, MediaFile, GenerationJob } from 'postreel/media';
import { saveTo, fileJournal } from 'postreel/node';
import type { Context } from '../context.js';
import { CommandEnd } from '../exit-codes.js';
import { startProgress, type ProgressBars } from '../progress.js';
import { createOption } from '../command.js';
import type { Option } from 'commander';
import { messageOf } from '../../core/errors.js';
import { findRequestProblems } from '../../core/call/validate.js';

/** The file in which the commands store their jobs, unless `--journal` names another one. */
export const defaultJournal = 'postreel-jobs.jsonl';

export function createJournalOption(): Option {
  return createOption('--journal <path>', 'where jobs are written down').default(defaultJournal);
}

/** Where files are saved: in a folder, each under its id, or at one path. */
export type SaveTarget = { readonly folder: string } | { readonly path: string };

/** The files that a command is about to save. */
export interface ExpectedFiles {
  readonly count: number;
  /** Parts of one speech, in order: together they make one file. */
  readonly isSpeech?: boolean;
  /** True if one of the files is a part of a longer text. */
  readonly hasPart?: boolean;
}

/** Creates a client that writes its jobs to a journal, so that a crash loses none. */
export function createMediaWithJournal(
  context: Context,
  path = defaultJournal,
): Promise<MediaClient> {
  return context.media({ journal: fileJournal(path) });
}

/** Rejects an invalid request before a person is asked to confirm it. */
export function requireValid(
  schema: NonNullable<Parameters<typeof findRequestProblems>[0]['body']>,
  body: unknown,
  nameOf: (field: string) => string = (field) => field,
): void {
  const [first] = findRequestProblems({ body: schema }, body, undefined);
  if (first) {
    const problem = `\`${nameOf(first.field)}\` ${first.message}`;
    throw new CommandEnd('rejected', `Nothing was submitted: ${problem}.`);
  }
}

/** Reads `--out`. For one file, any name is a path. For several files, a name without an extension is a folder. */
export async function targetOf(
  out: string | undefined,
  { count, isSpeech = false, hasPart = false }: ExpectedFiles,
): Promise<SaveTarget> {
  const given = out ?? './';
  const isFolder = await stat(given).then(
    (found) => found.isDirectory(),
    () => false,
  );
  const isFile = !isFolder && !/[\\/]$/.test(given) && (count === 1 || extname(given) !== '');
  const folder = `${given.slice(0, given.length - extname(given).length)}/`;
  if (isFile && hasPart && (count === 1 || !isSpeech)) {
    throw new CommandEnd(
      'usage',
      `--out ${given} is one file, and a part of a longer text would be saved as if it were the whole. Run the \`postreel audio\` command of the text again: it makes what is missing and joins the parts. To save the parts by themselves, give a folder: --out ${folder}`,
    );
  }
  if (isFile && count > 1 && !isSpeech) {
    throw new CommandEnd(
      'usage',
      `--out ${given} is one file, and there are ${count}. Give a folder: --out ${folder}`,
    );
  }
  return isFile ? { path: given } : { folder: given };
}

/** Creates the folder of a target. Called before the jobs are paid for, so that a failure costs nothing. */
export async function makeFolderOf(target: SaveTarget): Promise<void> {
  await mkdir('path' in target ? dirname(target.path) : target.folder, { recursive: true });
}

/** Saves a finished file; returns its path. */
export async function save(
  file: MediaFile,
  job: { readonly name: string; readonly kind: GenerationJob['kind'] },
  { target, progress, signal }: Saving,
): Promise<string> {
  const path = 'path' in target ? target.path : join(target.folder, nameOf(file, job.kind));
  await saveTo(file, path, {
    signal,
    onProgress: ({ receivedBytes, totalBytes }) =>
      progress.show(job.name, {
        done: receivedBytes,
        total: totalBytes ?? receivedBytes,
        note: 'downloading',
      }),
  });
  progress.show(job.name, { done: 1, total: 1, note: 'saved' });
  return path;
}

/** The parameters of saving, apart from the file. */
export interface Saving {
  readonly target: SaveTarget;
  readonly progress: ProgressBars;
  readonly signal: AbortSignal;
}

// The id comes from the service: nothing in it may lead to another folder.
function nameOf({ fileId, url }: MediaFile, kind: GenerationJob['kind']): string {
  const extension = extname(new URL(url).pathname) || (kind === 'video' ? '.mp4' : '.mp3');
  return fileId.replace(/[^\w-]/g, '_') + extension.replace(/[^\w.]/g, '');
}

/** Waits for jobs, saves their files and settles them in the journal. */
export async function finishJobs(
  media: MediaClient,
  jobs: readonly GenerationJob[],
  {
    target,
    hint = resumeHint,
  }: { readonly target: SaveTarget; readonly hint?: string | undefined },
  context: Context,
): Promise<void> {
  const progress = startProgress(context);
  const saving = { target, progress, signal: context.signal, hint };
  await saveAll(media, jobs, saving, context).finally(() => progress.stop());
}

const resumeHint =
  'The submitted jobs continue. `postreel jobs resume` waits for them and saves the files.';

async function saveAll(
  media: MediaClient,
  jobs: readonly GenerationJob[],
  saving: Saving & { readonly hint: string },
  context: Context,
): Promise<void> {
  const { target } = saving;
  const isJoined = 'path' in target && jobs.length > 1;
  const saveOne = async (job: GenerationJob, file: MediaFile) => {
    const path = await save(file, { name: job.fileId, kind: job.kind }, saving);
    await media.journal.acknowledge(job.fileId);
    reportSaved({ fileId: job.fileId, path }, context);
  };
  let failures = 0;
  const files = await Promise.all(
    jobs.map(async (job) => {
      try {
        const file = await waitFor(job, saving);
        await (isJoined ? undefined : saveOne(job, file));
        return file;
      } catch (error) {
        failures += 1;
        reportFailed(job.fileId, error, context);
        return undefined;
      } finally {
        saving.progress.end(job.fileId);
      }
    }),
  );
  if (isJoined && !context.signal.aborted) {
    const whole = files.filter((file) => file !== undefined);
    if (whole.length === jobs.length) {
      await saveJoined(media, whole, target.path, context);
    } else {
      context.output.note(`Nothing was joined. ${saving.hint}`);
    }
  }
  endCommand(failures, context, saving.hint);
}

async function waitFor(job: GenerationJob, { progress, signal }: Saving): Promise<MediaFile> {
  const show = (percent: number, note: string) =>
    progress.show(job.fileId, { done: percent, total: 100, note });
  show(0, 'waiting');
  return job.waitForFile({
    signal,
    onUpdate: ({ status, progress: done }) => show(percentOf(done), status),
  });
}

/** Saves the parts of a speech as one file. The file appears only when it is complete. */
async function saveJoined(
  media: MediaClient,
  files: readonly MediaFile[],
  path: string,
  context: Context,
): Promise<void> {
  const { signal, output } = context;
  const whole = await media.joinAudio(files, { signal });
  const partPath = `${path}.part`;
  try {
    await writeFile(partPath, whole.stream(), { signal });
    await rename(partPath, path);
  } catch (error) {
    await rm(partPath, { force: true });
    throw error;
  }
  for (const { fileId } of files) {
    await media.journal.acknowledge(fileId);
  }
  const fileIds = files.map(({ fileId }) => fileId);
  output.result({ fileIds, path }, () => `${output.paint('green', 'saved')} ${path}`);
}

/** Converts the progress of a job to percent. Its unit is not documented: up to 1, it counts as a share. */
export function percentOf(progress: number | undefined): number {
  const value = progress ?? 0;
  return Math.round(Math.min(100, value <= 1 ? value * 100 : value));
}

/** Prints a file that was saved. */
export function reportSaved(
  { fileId, path }: { readonly fileId: string; readonly path: string },
  { output }: Context,
): void {
  output.result({ fileId, path }, () => `${output.paint('green', 'saved')} ${path}`);
}

/** Prints a failed job with its error. */
export function reportFailed(name: string, error: unknown, { output, signal }: Context): void {
  if (signal.aborted) {
    return;
  }
  const message = messageOf(error);
  if (output.isJson) {
    output.result({ name, error: message }, () => '');
  } else {
    output.note(`${output.paintNote('red', 'failed')} ${name}: ${message}`);
  }
}

/** Ends a command after its jobs have ended, or after Ctrl+C. Throws if a job failed. */
export function endCommand(
  failures: number,
  { signal, output }: Context,
  hint: string = resumeHint,
): void {
  if (signal.aborted) {
    output.note(hint);
  }
  signal.throwIfAborted();
  if (failures > 0) {
    throw new CommandEnd('jobFailed', `${failures} of the jobs failed.`);
  }
}
