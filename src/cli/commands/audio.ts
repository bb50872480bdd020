import type { AudioRequest, GenerationJob, MediaClient, TextRange } from 'postreel/media';
import { media as schemas } from 'postreel/schemas';
import { isPostreelError } from '../../core/errors.js';
import { fingerprint } from '../../core/fingerprint.js';
import { splitText } from '../../media/generate/long-audio/split-text.js';
import { limits } from '../../media/limits.js';
import { createCommand, createOption, parsePositiveNumber } from '../command.js';
import { readText } from '../environment.js';
import { CommandEnd } from '../exit-codes.js';
import {
  freeKey,
  mustBeMade,
  lookUpJobs,
  outcomeUnknownError,
  describePaidJobs,
  type JobLookUp,
  type PaidJob,
} from './paid-jobs.js';
import {
  endCommand,
  finishJobs,
  createJournalOption,
  makeFolderOf,
  createMediaWithJournal,
  requireValid,
  targetOf,
} from './saving.js';

interface AudioInput {
  readonly text?: string;
  readonly file?: string;
  readonly voice: string;
  readonly format: 'mp3' | 'wav';
  readonly rate?: number;
  readonly out?: string;
  readonly journal: string;
  readonly again?: boolean;
}

/** One part of the text. A short text is a single part without a range. */
interface SpeechPart extends PaidJob {
  readonly request: AudioRequest;
  readonly range: TextRange | undefined;
}

/** `postreel audio` */
export const audio = createCommand<AudioInput>({
  name: 'audio',
  about: 'speak a text of any length, wait for the speech and save it',
  more: 'The same text with the same voice, format and rate is paid for once: run the command again after an interruption, and it makes only what is missing',
  args: [['[text]', 'text to speak']],
  options: [
    createOption('--file <path>', 'file with the text'),
    createOption('--voice <id>', 'voice').makeOptionMandatory(),
    createOption('--format <format>', 'mp3 or wav').default('mp3'),
    createOption('--rate <factor>', 'speed, 0.5 to 2', parsePositiveNumber),
    createOption(
      '-o, --out <path>',
      'file; or a folder, where a long text has a file for each part (default: <file id>.mp3)',
    ),
    createOption('--again', 'make, and pay for, what was made before once more'),
    createJournalOption(),
  ],
  examples: [
    'audio "Good morning!" --voice voice_1 --out morning.mp3',
    'audio --file article.txt --voice voice_1 --out article.mp3 --yes',
    'audio --file book.txt --voice voice_1 --out book/ --yes',
  ],
  plan: async (input, context) => {
    const text = await textOf(input);
    const requests = requestsOf(text, input);
    requests.forEach(({ request }) => requireValid(schemas.generate.audio.body, request));
    const count = requests.length;
    const target = await targetOf(input.out, { count, isSpeech: true });
    const media = await createMediaWithJournal(context, input.journal);
    const { journal, again: isAgain = false } = input;
    const lookUpOptions: JobLookUp = { media, journal, context, isAgain };
    const parts = await partsOf(requests, keyOf(text, input), lookUpOptions);
    const end = 'path' in target ? ', joined to one file' : '';
    return {
      action: 'Speak a text',
      facts: {
        characters: text.length,
        parts: count === 1 ? 1 : `${count}${end}`,
        ...describePaidJobs(parts, 'part'),
        voice: input.voice,
        'saved to': input.out ?? 'this folder',
        journal,
      },
      changesNothing: !parts.some(mustBeMade),
      run: async () => {
        await makeFolderOf(target);
        const jobs = await makeParts(parts, lookUpOptions);
        await finishJobs(
          media,
          jobs,
          { target, hint: count > 1 ? continueHint : undefined },
          context,
        );
      },
    };
  },
});

const continueHint =
  'What was submitted is paid for. Run the same command again (without --again): it makes only what is missing.';

/** The key of a text: only what changes the speech is part of it. */
function keyOf(text: string, { voice, format, rate }: AudioInput): string {
  return `audio/${fingerprint(JSON.stringify([text, voice, format, rate]))}`;
}

function requestsOf(text: string, { voice, format, rate }: AudioInput) {
  const speed = rate === undefined ? {} : { playbackRate: rate };
  const parts = text.length > limits.textLength ? splitText(text, limits.textLength) : [];
  const whole = { text, range: undefined };
  const several = parts.map(({ text: part, start, end }) => ({
    text: part,
    range: { start, end },
  }));
  return (several.length > 1 ? several : [several[0] ?? whole]).map(({ text: content, range }) => ({
    request: { content, voiceId: voice, format, ...speed },
    range: several.length > 1 ? range : undefined,
  }));
}

async function partsOf(
  requests: ReturnType<typeof requestsOf>,
  key: string,
  lookUpOptions: JobLookUp,
): Promise<SpeechPart[]> {
  const { ledger } = lookUpOptions.media.engineHost();
  const onces = requests.flatMap(
    ({ request }, index) => ledger?.onceOf('audio', `${key}/${index}`, request) ?? [],
  );
  const known = await lookUpJobs(onces, lookUpOptions);
  return requests.flatMap((one, index) => {
    const job = known[index];
    return job ? [{ ...one, ...job }] : [];
  });
}

/** Submits the parts that are missing, one after another. */
async function makeParts(
  parts: readonly SpeechPart[],
  lookUpOptions: JobLookUp,
): Promise<GenerationJob[]> {
  const { media, context } = lookUpOptions;
  const jobs: GenerationJob[] = [];
  try {
    for (const part of parts) {
      jobs.push(await makePart(part, media, context.signal));
    }
    return jobs;
  } catch (error) {
    if (context.signal.aborted) {
      endCommand(0, context, continueHint);
    }
    if (isPostreelError(error) && error.code === 'OUTCOME_UNKNOWN') {
      throw outcomeUnknownError(lookUpOptions); // a claim of a process that was killed has expired by now
    }
    if (jobs.length > 0) {
      context.output.note(continueHint);
    }
    throw error;
  }
}

async function makePart(
  part: SpeechPart,
  media: MediaClient,
  signal: AbortSignal,
): Promise<GenerationJob> {
  const { request, range, once, state, job } = part;
  if (job && state === 'paid') {
    return job;
  }
  await freeKey(part, media);
  return media.generate.submitPart(request, range, { once: once.key, signal });
}

async function textOf({ text, file }: AudioInput): Promise<string> {
  if ((text === undefined) === (file === undefined)) {
    throw new CommandEnd('usage', 'Give a text or --file, and not both.');
  }
  return text ?? readText(file ?? '');
}
