import type { Command } from 'commander';
import type { MediaClient, UnknownCall, GenerationJob, JobRecord } from 'postreel/media';
import type { Context } from '../../context.js';
import { CommandEnd } from '../../exit-codes.js';
import { confirm } from '../../terminal/confirm.js';
import { startProgress } from '../../terminal/progress.js';
import { tableOf } from '../../terminal/table.js';
import { examples, yesOption } from '../options.js';
import { defaultJournal, finishJobs, makeFolderOf, mediaWithJournal, targetOf } from './saving.js';

interface Flags {
  readonly journal: string;
  readonly out?: string;
  readonly yes?: boolean;
}

const outHelp = 'file, or folder for several (default: <file id> in this folder)';

/** `postreel jobs` */
export function addJobs(program: Command, context: Context): void {
  const jobs = program.command('jobs').description('media jobs that are not over');
  const withJournal = (name: string) =>
    jobs.command(name).option('--journal <path>', 'where jobs are written down', defaultJournal);
  withJournal('pending')
    .description('list jobs that are not saved, and calls whose answer was lost')
    .addHelpText('after', examples('jobs pending'))
    .action((flags: Flags) => listPending(flags, context));
  withJournal('resume')
    .description('wait for every job that is not saved, and save its file')
    .option('-o, --out <path>', outHelp)
    .addHelpText('after', examples('jobs resume --out videos/'))
    .action((flags: Flags) => resume(flags, context));
  withJournal('wait')
    .description('wait for jobs by their file ids, and save the files')
    .argument('<fileId...>', 'file ids')
    .option('-o, --out <path>', outHelp)
    .addHelpText(
      'after',
      examples('jobs wait file_1 --out cats.mp4', 'jobs wait file_1 file_2 --out article.mp3'),
    )
    .action((fileIds: string[], flags: Flags) => waitFor(fileIds, flags, context));
  withJournal('dismiss')
    .description('forget jobs or calls; the service goes on with what it has')
    .argument('<id...>', 'file ids, or ids of calls whose answer was lost')
    .addOption(yesOption())
    .addHelpText('after', examples('jobs dismiss file_1 --yes'))
    .action((ids: string[], flags: Flags) => dismiss(ids, flags, context));
}

async function listPending({ journal }: Flags, context: Context): Promise<void> {
  const media = await mediaWithJournal(context, journal);
  const pending = await media.journal.pending();
  context.output.result(pending, () => describe(pending.jobs, pending.unknown, context));
}

function describe(
  jobs: readonly JobRecord[],
  unknown: readonly UnknownCall[],
  { output }: Context,
): string {
  const rows = [
    ...jobs.map(({ fileId, kind }) => ({ id: fileId, what: kind, state: 'not saved' })),
    ...unknown.map(({ id, at, jobs: { length } }) => {
      return { id, what: `${length} jobs of ${at}`, state: 'answer lost: may exist' };
    }),
  ];
  if (rows.length === 0) {
    return 'No jobs.';
  }
  const columns = [
    { heading: 'Id', text: ({ id }: (typeof rows)[number]) => id },
    { heading: 'What', text: ({ what }: (typeof rows)[number]) => what },
    { heading: 'State', text: ({ state }: (typeof rows)[number]) => state },
  ];
  return tableOf(rows, columns, output);
}

async function resume(flags: Flags, context: Context): Promise<void> {
  const media = await mediaWithJournal(context, flags.journal);
  const { jobs, unknown } = await media.resumeAll();
  if (unknown.length > 0) {
    const note = `The answers of ${unknown.length} calls were lost: see \`postreel jobs pending\`.`;
    context.output.note(note);
  }
  if (jobs.length === 0) {
    context.output.note('No jobs to wait for.');
    return;
  }
  await finish(media, jobs, { out: flags.out }, context);
}

async function waitFor(fileIds: readonly string[], flags: Flags, context: Context): Promise<void> {
  const media = await mediaWithJournal(context, flags.journal);
  const { jobs: known } = await media.journal.pending();
  const recordOf = (fileId: string): JobRecord =>
    known.find((job) => job.fileId === fileId) ?? { fileId, kind: 'video' };
  const jobs = fileIds.map((fileId) => media.job(recordOf(fileId)));
  // In the order of the command line: a journal does not know which parts make one text.
  const isSpeech = jobs.every(({ kind }) => kind === 'audio');
  await finish(media, jobs, { out: flags.out, isSpeech }, context);
}

async function finish(
  media: MediaClient,
  jobs: readonly GenerationJob[],
  { out, isSpeech = false }: { readonly out: string | undefined; readonly isSpeech?: boolean },
  context: Context,
): Promise<void> {
  const target = await targetOf(out, { count: jobs.length, isSpeech });
  await makeFolderOf(target);
  const progress = startProgress(context);
  const saving = { target, progress, signal: context.signal };
  await finishJobs(media, jobs, saving, context).finally(() => progress.stop());
}

async function dismiss(ids: readonly string[], flags: Flags, context: Context): Promise<void> {
  const media = await mediaWithJournal(context, flags.journal);
  const { jobs, unknown } = await media.journal.pending();
  const known = [...jobs.map(({ fileId }) => fileId), ...unknown.map(({ id }) => id)];
  const stranger = ids.find((id) => !known.includes(id));
  if (stranger !== undefined) {
    throw new CommandEnd('rejected', `${flags.journal} has no open job ${stranger}.`);
  }
  const facts = { ids: ids.join(', '), journal: flags.journal };
  await confirm({ action: 'Forget, without saving', facts }, flags, context);
  for (const id of ids) {
    await media.journal.dismiss(id);
    context.output.result({ dismissed: id }, () => `dismissed ${id}`);
  }
}
