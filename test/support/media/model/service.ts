import type { Random } from './random.js';
import type { VirtualTime } from './time.js';

/** How the service of a world behaves. */
export interface ServiceHabits {
  readonly pendingLimit: number;
  /** The wait that a 429 requests. */
  readonly says: 'seconds' | 'date' | 'reset' | 'nothing';
  /** Are the jobs of a call made one after another, up to one that is refused? */
  readonly makesHalf: boolean;
  readonly maxJobMs: number;
  readonly failChance: number;
  /** The jobs that it refuses, by their text. */
  readonly refused: ReadonlySet<string>;
}

/** A file that was made, and paid for. */
export interface Made {
  readonly fileId: string;
  /** The text of its job. */
  readonly text: string;
  readonly at: number;
  readonly endsAt: number;
  readonly end: 'success' | 'error' | 'canceled';
}

/** The response of the service. */
export interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
  /** The files that the service made for this call, even if the response does not show them. */
  readonly made: readonly Made[];
}

const windowMs = 600_000;
const callsPerWindow = 10;

/** The media service as its document has it: ten calls in ten minutes, so many jobs pending. */
export class ModelService {
  readonly made: Made[] = [];
  /** Refusals because of its limits. */
  limited = 0;
  readonly #time: VirtualTime;
  readonly #random: Random;
  readonly #habits: ServiceHabits;
  readonly #calls: number[] = [];
  #folders = 0;

  constructor(time: VirtualTime, random: Random, habits: ServiceHabits) {
    this.#time = time;
    this.#random = random;
    this.#habits = habits;
  }

  answer(path: string, query: URLSearchParams, body: unknown): Reply {
    switch (path) {
      case '/v1/generate/status':
        return this.#status(query.get('fileId') ?? '');
      case '/v1/generate/video':
        return this.#generate(body, (made) => ({
          success: true,
          data: {
            folderId: (body as { folderId?: string }).folderId ?? `folder_${++this.#folders}`,
            filesCreated: made.map(({ fileId }) => fileId),
          },
        }));
      case '/v1/generate/audio':
        return this.#generate(body, ([made]) => ({ fileId: made?.fileId }));
      default:
        return no(404, `${path} is no endpoint`);
    }
  }

  #status(fileId: string): Reply {
    const file = this.made.find((one) => one.fileId === fileId);
    if (!file) {
      return no(404, 'no such file');
    }
    const isOver = this.#time.now() >= file.endsAt;
    const status = isOver ? file.end : this.#time.now() - file.at < 3_000 ? 'queued' : 'processing';
    const download = status === 'success' ? { download: `https://cdn.model/${fileId}.mp4` } : {};
    return yes({ fileId, status, progress: isOver ? 100 : 50, ...download }, []);
  }

  #generate(body: unknown, written: (made: readonly Made[]) => unknown): Reply {
    const now = this.#time.now();
    const { makesHalf, refused, pendingLimit } = this.#habits;
    const recent = this.#calls.filter((at) => at > now - windowMs);
    if (recent.length >= callsPerWindow) {
      this.limited++;
      return this.#over((recent[0] ?? now) + windowMs - now);
    }
    this.#calls.push(now);
    const texts = textsOf(body);
    const bad = texts.findIndex((text) => refused.has(text));
    if (bad >= 0) {
      const made = texts.slice(0, makesHalf ? bad : 0).map((text) => this.#make(text));
      return { ...no(400, `the service does not want ${texts[bad]}`), made };
    }
    const pending = this.made.filter(({ endsAt }) => endsAt > now).length;
    if (pending + texts.length > pendingLimit) {
      this.limited++;
      return no(429, 'Too many pending jobs.');
    }
    const made = texts.map((text) => this.#make(text));
    return yes(written(made), made);
  }

  #make(text: string): Made {
    const { maxJobMs, failChance } = this.#habits;
    const at = this.#time.now();
    const endsAt = at + 1_000 + this.#random.next() * maxJobMs;
    const fails = this.#random.chance(failChance);
    const end = fails ? this.#random.pick(['error', 'canceled'] as const) : 'success';
    const made: Made = { fileId: `file_${this.made.length + 1}`, text, at, endsAt, end };
    this.made.push(made);
    return made;
  }

  #over(waitMs: number): Reply {
    const seconds = Math.ceil(waitMs / 1_000);
    const headers = {
      seconds: { 'retry-after': String(seconds) },
      date: { 'retry-after': new Date(this.#time.now() + seconds * 1_000).toUTCString() },
      reset: { 'ratelimit-remaining': '0', 'ratelimit-reset': String(seconds) },
      nothing: {},
    }[this.#habits.says];
    return { ...no(429, 'Rate limit exceeded.'), headers };
  }
}

/** The texts of the jobs in the body of a call: no two jobs of a world have the same. */
export function textsOf(body: unknown): string[] {
  const { payload, content } = body as { payload?: { prompt: string }[]; content?: string };
  return payload ? payload.map(({ prompt }) => prompt) : [content ?? ''];
}

/** A refusal. */
export function no(status: number, message: string): Reply {
  return { status, headers: {}, body: { message }, made: [] };
}

function yes(body: unknown, made: readonly Made[]): Reply {
  return { status: 200, headers: {}, body, made };
}
