import { readFile } from 'node:fs/promises';
import type { Command } from 'commander';
import type { MediaClient, GenerationJob } from 'postreel/media';
import type { Context } from '../../context.js';
import { CommandEnd } from '../../exit-codes.js';
import { confirm } from '../../terminal/confirm.js';
import { startProgress } from '../../terminal/progress.js';
import { examples, positiveNumber, yesOption } from '../options.js';
import { defaultJournal, finishJobs, makeFolderOf, mediaWithJournal, targetOf } from './saving.js';

interface Flags {
  readonly file?: string;
  readonly voice: string;
  readonly format: 'mp3' | 'wav';
  readonly rate?: number;
  readonly out?: string;
  readonly journal: string;
  readonly yes?: boolean;
}

// Above this length the text is submitted in parts (media, Limits).
const maxTextLength = 10_000;

/** `postreel audio` */
export function addAudio(program: Command, context: Context): void {
  program
    .command('audio')
    .description('speak a text of any length, wait for the speech and save it')
    .argument('[text]', 'text to speak')
    .option('--file <path>', 'file with the text')
    .requiredOption('--voice <id>', 'voice')
    .option('--format <format>', 'mp3 or wav', 'mp3')
    .option('--rate <factor>', 'speed, 0.5 to 2', positiveNumber)
    .option(
      '-o, --out <path>',
      'file; or a folder, where a long text has a file for each part (default: <file id>.mp3)',
    )
    .option('--journal <path>', 'where jobs are written down', defaultJournal)
    .addOption(yesOption())
    .addHelpText(
      'after',
      examples(
        'audio "Good morning!" --voice voice_1 --out morning.mp3',
        'audio --file article.txt --voice voice_1 --out article.mp3 --yes',
        'audio --file book.txt --voice voice_1 --out book/ --yes',
      ),
    )
    .action((text: string | undefined, flags: Flags) => speak(text, flags, context));
}

async function speak(given: string | undefined, flags: Flags, context: Context): Promise<void> {
  const text = await textOf(given, flags);
  const media = await mediaWithJournal(context, flags.journal);
  const count = Math.ceil(text.length / maxTextLength);
  const target = await targetOf(flags.out, { count, isSpeech: true });
  const end = 'path' in target ? ', joined to one file' : '';
  const facts = {
    characters: text.length,
    parts: count <= 1 ? 1 : `about ${count}${end}`,
    voice: flags.voice,
    'saved to': flags.out ?? 'this folder',
    journal: flags.journal,
  };
  await confirm({ action: 'Speak a text', facts }, flags, context);
  await makeFolderOf(target);
  const jobs = await submit(media, text, flags, context.signal);
  const progress = startProgress(context);
  const saving = { target, progress, signal: context.signal };
  await finishJobs(media, jobs, saving, context).finally(() => progress.stop());
}

async function submit(
  media: MediaClient,
  content: string,
  { voice, format, rate }: Flags,
  signal: AbortSignal,
): Promise<GenerationJob[]> {
  const speed = rate === undefined ? {} : { playbackRate: rate };
  const request = { content, voiceId: voice, format, ...speed };
  return content.length <= maxTextLength
    ? [await media.generate.audio(request, { signal })]
    : media.generate.longAudio(request, { signal });
}

async function textOf(text: string | undefined, { file }: Flags): Promise<string> {
  if ((text === undefined) === (file === undefined)) {
    throw new CommandEnd('usage', 'Give a text or --file, and not both.');
  }
  return text ?? readFile(file ?? '', 'utf8');
}
