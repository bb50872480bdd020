import type {
  AudioRequest,
  LongAudioRequest,
  Call,
  FileKind,
  FileResult,
  FileStream,
  FileUpdate,
  Generate,
  GenerateOptions,
  GenerationJob,
  JournalStore,
  AwaitedCall,
  UnknownCall,
  JobRecord,
  MediaClient,
  MediaFile,
  MediaJob,
  MediaOptions,
  MediaQueue,
  PendingJobs,
  QueueOptions,
  QueueProgress,
  QueueResult,
  RateLimit,
  RequestOptions,
  StatusQuery,
  StatusRecord,
  VideoJob,
  VideoRequest,
  WaitOptions,
} from 'postreel';
import type { Readable } from 'node:stream';
import { expectTypeOf, it } from 'vitest';

declare const media: MediaClient;
declare const base: { workflowFormat: 'video'; voiceId: string };

it('generates, speaks and looks with exactly these arguments and answers', () => {
  expectTypeOf<VideoJob | VideoRequest>().toExtend<Parameters<Generate['video']>[0]>();
  expectTypeOf<Parameters<Generate['video']>[1]>().toEqualTypeOf<GenerateOptions | undefined>();
  expectTypeOf<Parameters<Generate['audio']>[0]>().toEqualTypeOf<AudioRequest>();
  expectTypeOf<Parameters<Generate['audio']>[1]>().toEqualTypeOf<GenerateOptions | undefined>();
  expectTypeOf<ReturnType<Generate['audio']>>().toEqualTypeOf<Call<GenerationJob>>();
  expectTypeOf<Parameters<Generate['status']>[0]>().toEqualTypeOf<StatusQuery>();
  expectTypeOf<Parameters<Generate['status']>[1]>().toEqualTypeOf<RequestOptions | undefined>();
  expectTypeOf<ReturnType<Generate['status']>>().toEqualTypeOf<Call<StatusRecord>>();
  expectTypeOf<ReturnType<Generate['longAudio']>>().toEqualTypeOf<Promise<GenerationJob[]>>();
});

it('wants a prompt for an idea, and content for a script or an article', () => {
  expectTypeOf({ ...base, workflowType: 'idea' as const, prompt: 'x' }).toExtend<VideoJob>();
  expectTypeOf({ ...base, workflowType: 'script' as const, content: 'x' }).toExtend<VideoJob>();
  expectTypeOf({ ...base, workflowType: 'url' as const, content: 'x' }).toExtend<VideoJob>();
  expectTypeOf({ ...base, workflowType: 'idea' as const }).not.toExtend<VideoJob>();
  expectTypeOf({ ...base, workflowType: 'idea' as const, content: 'x' }).not.toExtend<VideoJob>();
  expectTypeOf({ ...base, workflowType: 'script' as const, prompt: 'x' }).not.toExtend<VideoJob>();
  expectTypeOf({ ...base, workflowType: 'url' as const }).not.toExtend<VideoJob>();
  expectTypeOf({ ...base, workflowType: 'song' as const, prompt: 'x' }).not.toExtend<VideoJob>();
});

it('wants pictures for the library, and AI for a model of AI video', () => {
  const idea = { ...base, workflowType: 'idea' as const, prompt: 'x' };
  const library = { ...idea, visuals: 'library' as const };
  const model = { ...idea, aiVideoModel: 'ai-video-b' as const };
  expectTypeOf({ ...library, mediaUrls: ['https://a.test'] }).toExtend<VideoJob>();
  expectTypeOf(library).not.toExtend<VideoJob>();
  expectTypeOf({ ...model, visuals: 'ai' as const }).toExtend<VideoJob>();
  expectTypeOf({ ...model, visuals: 'ai' as const, aiVideoModel: 'newer' }).toExtend<VideoJob>();
  expectTypeOf(model).not.toExtend<VideoJob>();
  expectTypeOf({ ...model, visuals: 'stock' as const }).not.toExtend<VideoJob>();
  expectTypeOf({
    ...model,
    visuals: 'library' as const,
    mediaUrls: ['https://a.test'],
  }).not.toExtend<VideoJob>();
});

it('takes one job where one is meant, and resolves to its job', () => {
  const job = { workflowType: 'idea', prompt: 'x', voiceId: 'v' } satisfies VideoJob;
  expectTypeOf(media.generate.video(job)).toEqualTypeOf<Call<GenerationJob>>();
  expectTypeOf(media.generate.video({ payload: [job] })).toEqualTypeOf<Call<GenerationJob[]>>();
});

it('wants the voice, may leave the format out, and knows the values of the rest', () => {
  const idea = { workflowType: 'idea', prompt: 'x' } as const;
  expectTypeOf({ ...idea, workflowFormat: 'video' as const }).not.toExtend<VideoJob>();
  expectTypeOf({ ...idea, voiceId: 'v' }).toExtend<VideoJob>();
  const job = { ...idea, ...base };
  expectTypeOf({ ...job, extension: 'mp3' as const }).not.toExtend<VideoJob>();
  expectTypeOf({ ...job, resolution: '4k' as const }).not.toExtend<VideoJob>();
  expectTypeOf({ ...job, aspectRatio: '9:16' as const }).toExtend<VideoJob>();
  expectTypeOf({ content: 'x', voiceId: 'v', voiceStyleId: null }).toExtend<AudioRequest>();
  expectTypeOf({ content: 'x' }).not.toExtend<AudioRequest>();
});

it('answers a wait for many as `settle` says', () => {
  expectTypeOf(media.waitForFile('file_1')).toEqualTypeOf<Promise<MediaFile>>();
  expectTypeOf(media.waitForFiles([])).toEqualTypeOf<Promise<FileResult[]>>();
  expectTypeOf(media.waitForFiles([], { settle: 'all' })).toEqualTypeOf<Promise<FileResult[]>>();
  expectTypeOf(media.waitForFiles([], { settle: 'any' })).toEqualTypeOf<Promise<MediaFile>>();
  expectTypeOf(media.waitForFiles([], { settle: 'first-error' })).toEqualTypeOf<
    Promise<MediaFile[]>
  >();
  expectTypeOf(media.watch('file_1')).toEqualTypeOf<AsyncIterableIterator<FileUpdate>>();
});

it('takes jobs of every source into a queue, and tells files from errors', () => {
  expectTypeOf(media.queue([])).toEqualTypeOf<MediaQueue>();
  expectTypeOf<VideoJob[]>().toExtend<Parameters<MediaClient['queue']>[0]>();
  expectTypeOf<Generator<AudioRequest>>().toExtend<Parameters<MediaClient['queue']>[0]>();
  expectTypeOf<AsyncGenerator<VideoJob>>().toExtend<Parameters<MediaClient['queue']>[0]>();
  const read = (result: QueueResult) => {
    if (result.file) {
      expectTypeOf(result.job).toEqualTypeOf<GenerationJob>();
      expectTypeOf(result.error).toEqualTypeOf<undefined>();
    } else {
      expectTypeOf(result.job).toEqualTypeOf<GenerationJob | undefined>();
      expectTypeOf(result.error).toEqualTypeOf<unknown>();
    }
  };
  expectTypeOf(read).parameter(0).toEqualTypeOf<QueueResult>();
});

it('finds a handle again from its record', () => {
  expectTypeOf<ReturnType<GenerationJob['toJSON']>>().toEqualTypeOf<JobRecord>();
  expectTypeOf<Parameters<MediaClient['job']>>().toEqualTypeOf<[record: JobRecord]>();
  expectTypeOf<ReturnType<MediaClient['job']>>().toEqualTypeOf<GenerationJob>();
  expectTypeOf<ReturnType<GenerationJob['watch']>>().toEqualTypeOf<
    AsyncIterableIterator<FileUpdate>
  >();
});

it('has a handle that knows its file, and never a bare id', () => {
  expectTypeOf<GenerationJob['fileId']>().toEqualTypeOf<string>();
  expectTypeOf<GenerationJob['kind']>().toEqualTypeOf<FileKind>();
  expectTypeOf<GenerationJob['folderId']>().toEqualTypeOf<string | undefined>();
  expectTypeOf<GenerationJob['editorUrl']>().toEqualTypeOf<string | undefined>();
  expectTypeOf<GenerationJob['status']>().toEqualTypeOf<
    (options?: RequestOptions) => Call<StatusRecord>
  >();
  expectTypeOf<GenerationJob['waitForFile']>().toEqualTypeOf<
    (options?: WaitOptions) => Promise<MediaFile>
  >();
  expectTypeOf<{ fileId: 'x' }>().not.toExtend<JobRecord>(); // its kind sets the pace of a wait
  expectTypeOf<{ fileId: string }>().not.toExtend<GenerationJob>();
});

it('waits as long, as often and as loudly as it is told', () => {
  expectTypeOf<WaitOptions['timeout']>().toEqualTypeOf<number | undefined>();
  expectTypeOf<'auto'>().toExtend<WaitOptions['interval']>();
  expectTypeOf<number>().toExtend<WaitOptions['interval']>();
  expectTypeOf<(update: FileUpdate) => number>().not.toExtend<WaitOptions['interval']>();
  expectTypeOf<(update: Omit<FileUpdate, 'nextPollInMs'>) => number>().toExtend<
    WaitOptions['interval']
  >();
  expectTypeOf<'often'>().not.toExtend<WaitOptions['interval']>();
  expectTypeOf<WaitOptions['signal']>().toEqualTypeOf<AbortSignal | undefined>();
  expectTypeOf<keyof FileUpdate>().toEqualTypeOf<
    'fileId' | 'status' | 'progress' | 'attempt' | 'elapsedMs' | 'nextPollInMs' | 'raw'
  >();
  expectTypeOf<FileUpdate['progress']>().toEqualTypeOf<number | undefined>();
  expectTypeOf<Parameters<MediaClient['waitForFiles']>[0]>().toEqualTypeOf<readonly string[]>();
  const read = (result: FileResult) => {
    if (result.file) {
      expectTypeOf(result.error).toEqualTypeOf<undefined>();
    } else {
      expectTypeOf(result.error).toEqualTypeOf<unknown>();
    }
  };
  expectTypeOf(read).parameter(0).toEqualTypeOf<FileResult>();
});

it('tells how far a queue is, and what it leaves behind', () => {
  expectTypeOf<QueueProgress>().toEqualTypeOf<{
    readonly done: number;
    readonly failed: number;
    readonly pending: number;
    readonly waiting: number;
    readonly total: number | undefined;
  }>();
  expectTypeOf<MediaQueue['running']>().toEqualTypeOf<readonly GenerationJob[]>();
  expectTypeOf<string[]>().not.toExtend<Parameters<MediaClient['queue']>[0]>();
  expectTypeOf<QueueResult['index']>().toEqualTypeOf<number>();
  expectTypeOf<QueueResult['input']>().toEqualTypeOf<MediaJob>();
});

it('takes exactly these options of a queue', () => {
  expectTypeOf<keyof QueueOptions>().toEqualTypeOf<
    | 'name'
    | 'key'
    | 'save'
    | 'concurrency'
    | 'folderId'
    | 'retryFailed'
    | 'timeout'
    | 'deadline'
    | 'maxJobs'
    | 'unknown'
    | 'signal'
    | 'onProgress'
  >();
  expectTypeOf<QueueOptions['unknown']>().toEqualTypeOf<'list' | 'send' | undefined>();
});

it('makes a job once under a key, and again only when it is told to', () => {
  expectTypeOf<GenerateOptions['once']>().toEqualTypeOf<string | undefined>();
  expectTypeOf<GenerateOptions['retryFailed']>().toEqualTypeOf<boolean | undefined>();
});

it('resumes with a journal', () => {
  expectTypeOf(media.journal.pending()).toEqualTypeOf<Promise<PendingJobs>>();
  expectTypeOf(media.resumeAll()).toEqualTypeOf<
    Promise<{
      jobs: GenerationJob[];
      unknown: readonly UnknownCall[];
      mayBeAnswered: readonly AwaitedCall[];
    }>
  >();
  expectTypeOf<MediaOptions['journal']>().toEqualTypeOf<JournalStore | undefined>();
  expectTypeOf(media.rateLimit).toEqualTypeOf<RateLimit>();
});

it('downloads a file in every form', () => {
  expectTypeOf<MediaFile['url']>().toEqualTypeOf<string>();
  expectTypeOf<ReturnType<MediaFile['stream']>>().toEqualTypeOf<Promise<FileStream>>();
  expectTypeOf<ReturnType<MediaFile['blob']>>().toEqualTypeOf<Promise<Blob>>();
  expectTypeOf<ReturnType<MediaFile['arrayBuffer']>>().toEqualTypeOf<Promise<ArrayBuffer>>();
  expectTypeOf<Parameters<Generate['longAudio']>[0]>().toEqualTypeOf<LongAudioRequest>();
  expectTypeOf<AudioRequest>().toExtend<LongAudioRequest>();
});

it('the stream of a file is one for the types of the DOM and for those of Node.js', () => {
  expectTypeOf<FileStream>().toExtend<Parameters<typeof Readable.fromWeb>[0]>();
  expectTypeOf<FileStream>().toExtend<ReadableStream<Uint8Array>>();
});
