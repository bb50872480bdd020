import type { GenerationJob, JobRecord, PendingJobs } from 'postreel/media';
import { createCommand, createOption } from '../command.js';
import type { Context } from '../context.js';
import { CommandEnd } from '../exit-codes.js';
import { formatCount, tableOf } from '../table.js';
import {
  finishJobs,
  createJournalOption,
  makeFolderOf,
  createMediaWithJournal,
  targetOf,
} from './saving.js';

interface JobsInput {
  readonly journal: string;
  readonly out?: string;
}

const out = createOption(
  '-o, --out <path>',
  'file, or folder for several (default: <file id> in this folder)',
);

/** `postreel jobs pending`, `resume`, `wait` and `dismiss` */
export const jobs = [
  createCommand<JobsInput>({
    name: 'jobs pending',
    about: 'list jobs that are not saved, and calls without a response',
    options: [createJournalOption()],
    examples: ['jobs pending'],
    run: async ({ journal }, context) => {
      const media = await createMediaWithJournal(context, journal);
      const pending = await media.journal.pending();
      context.output.result(pending, () => describe(pending, context));
    },
  }),
  createCommand<JobsInput>({
    name: 'jobs resume',
    about: 'wait for every job that is not saved, and save its file',
    options: [out, createJournalOption()],
    examples: ['jobs resume --out videos/'],
    run: async (input, context) => {
      const { output } = context;
      const media = await createMediaWithJournal(context, input.journal);
      const { jobs: found, unknown, mayBeAnswered } = await media.resumeAll();
      if (unknown.length > 0) {
        const lost = `The outcome of ${formatCount(unknown.length, 'call')} is unknown`;
        output.note(`${lost}: see \`postreel jobs pending\`.`);
      }
      for (const {
        id,
        jobs: { length },
        unknownAt,
      } of mayBeAnswered) {
        output.note(
          `The call ${id} for ${formatCount(length, 'job')} may still be answered, until ${unknownAt}. Run this command again then.`,
        );
      }
      if (found.length === 0) {
        output.note('No jobs to wait for.');
        return;
      }
      const target = await targetOf(input.out, { count: found.length, hasPart: hasPart(found) });
      await makeFolderOf(target);
      await finishJobs(media, found, { target }, context);
    },
  }),
  createCommand<JobsInput & { readonly fileId: readonly string[] }>({
    name: 'jobs wait',
    about: 'wait for jobs by their file ids, and save the files',
    args: [['<fileId...>', 'file ids']],
    options: [out, createJournalOption()],
    examples: ['jobs wait file_1 --out cats.mp4', 'jobs wait file_1 file_2 --out article.mp3'],
    run: async ({ fileId: fileIds, ...input }, context) => {
      const media = await createMediaWithJournal(context, input.journal);
      const { jobs: known } = await media.journal.pending();
      const recordOf = (fileId: string): JobRecord =>
        known.find((job) => job.fileId === fileId) ?? { fileId, kind: 'video' };
      const found: GenerationJob[] = fileIds.map((fileId) => media.job(recordOf(fileId)));
      // In the order of the command line: a journal does not know which parts make one text.
      const isSpeech = found.every(({ kind }) => kind === 'audio');
      const target = await targetOf(input.out, {
        count: found.length,
        isSpeech,
        hasPart: hasPart(found),
      });
      await makeFolderOf(target);
      await finishJobs(media, found, { target }, context);
    },
  }),
  createCommand<JobsInput & { readonly id: readonly string[] }>({
    name: 'jobs dismiss',
    about: 'forget jobs or calls; the service still continues them',
    args: [['<id...>', 'file ids, or ids of calls whose answer was lost']],
    options: [createJournalOption()],
    examples: ['jobs dismiss file_1 --yes'],
    plan: async ({ id: ids, journal }, context) => {
      const media = await createMediaWithJournal(context, journal);
      const { jobs: found, unknown, mayBeAnswered } = await media.journal.pending();
      const calls = [...unknown, ...mayBeAnswered].map(({ id }) => id);
      const known = [...found.map(({ fileId }) => fileId), ...calls];
      const unlisted = ids.find((id) => !known.includes(id));
      if (unlisted !== undefined) {
        throw new CommandEnd('rejected', `${journal} has no open job ${unlisted}.`);
      }
      return {
        action: 'Forget, without saving',
        facts: { ids, journal },
        run: async () => {
          for (const id of ids) {
            await media.journal.dismiss(id);
            context.output.result({ dismissed: id }, () => `dismissed ${id}`);
          }
        },
      };
    },
  }),
];

function hasPart(jobs: readonly GenerationJob[]): boolean {
  return jobs.some(({ part }) => part !== undefined);
}

function describe({ jobs, unknown, mayBeAnswered }: PendingJobs, { output }: Context): string {
  const rows = [
    ...jobs.map(({ fileId, kind }) => ({ id: fileId, what: kind, state: 'not saved' })),
    ...unknown.map(({ id, at, jobs: { length } }) => {
      return {
        id,
        what: formatCount(length, 'job'),
        state: `answer lost ${at.slice(0, 10)}: may exist`,
      };
    }),
    ...mayBeAnswered.map(({ id, jobs: { length }, unknownAt }) => {
      const until = timeOf(unknownAt);
      return { id, what: formatCount(length, 'job'), state: `may be answered until ${until}` };
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

/** The time of day, in UTC and rounded up to a second: a claim lives for minutes, and a row has 80 columns. */
function timeOf(iso: string): string {
  return `${new Date(Date.parse(iso) + 999).toISOString().slice(11, 19)}Z`;
}
