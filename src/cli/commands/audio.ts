import type { GenerationJob, MediaClient } from 'postreel/media';
import { command, option, positiveNumber } from '../command.js';
import { readText } from '../environment.js';
import { CommandEnd } from '../exit-codes.js';
import { finishJobs, journalOption, makeFolderOf, mediaWithJournal, targetOf } from './saving.js';

interface Input {
  readonly text?: string;
  readonly file?: string;
  readonly voice: string;
  readonly format: 'mp3' | 'wav';
  readonly rate?: number;
  readonly out?: string;
  readonly journal: string;
}

// Above this length the text is submitted in parts (media, Limits).
const maxTextLength = 10_000;

/** `postreel audio` */
export const audio = command<Input>({
  name: 'audio',
  about: 'speak a text of any length, wait for the speech and save it',
  args: [['[text]', 'text to speak']],
  options: [
    option('--file <path>', 'file with the text'),
    option('--voice <id>', 'voice').makeOptionMandatory(),
    option('--format <format>', 'mp3 or wav').default('mp3'),
    option('--rate <factor>', 'speed, 0.5 to 2', positiveNumber),
    option(
      '-o, --out <path>',
      'file; or a folder, where a long text has a file for each part (default: <file id>.mp3)',
    ),
    journalOption(),
  ],
  examples: [
    'audio "Good morning!" --voice voice_1 --out morning.mp3',
    'audio --file article.txt --voice voice_1 --out article.mp3 --yes',
    'audio --file book.txt --voice voice_1 --out book/ --yes',
  ],
  plan: async (input, context) => {
    const text = await textOf(input);
    const media = await mediaWithJournal(context, input.journal);
    const count = Math.ceil(text.length / maxTextLength);
    const target = await targetOf(input.out, { count, isSpeech: true });
    const end = 'path' in target ? ', joined to one file' : '';
    return {
      action: 'Speak a text',
      facts: {
        characters: text.length,
        parts: count <= 1 ? 1 : `about ${count}${end}`,
        voice: input.voice,
        'saved to': input.out ?? 'this folder',
        journal: input.journal,
      },
      run: async () => {
        await makeFolderOf(target);
        const jobs = await submit(media, text, input, context.signal);
        await finishJobs(media, jobs, target, context);
      },
    };
  },
});

async function submit(
  media: MediaClient,
  content: string,
  { voice, format, rate }: Input,
  signal: AbortSignal,
): Promise<GenerationJob[]> {
  const speed = rate === undefined ? {} : { playbackRate: rate };
  const request = { content, voiceId: voice, format, ...speed };
  return content.length <= maxTextLength
    ? [await media.generate.audio(request, { signal })]
    : media.generate.longAudio(request, { signal });
}

async function textOf({ text, file }: Input): Promise<string> {
  if ((text === undefined) === (file === undefined)) {
    throw new CommandEnd('usage', 'Give a text or --file, and not both.');
  }
  return text ?? readText(file ?? '');
}
