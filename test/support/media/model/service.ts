import {
  ApiError,
  AuthenticationError,
  ConnectionError,
  RateLimitError,
  ServerError,
  type MediaJob,
  type PostreelError,
} from 'postreel';
import { audioRecords, videoRecords } from '../../../../src/media/generate/accepted.js';
import type { JobRecord } from 'postreel/media';
import type { Random } from './random.js';
import type { VirtualTime } from './time.js';

/** What a world is like: drawn from its seed. */
export interface Habits {
  readonly cap: number;
  readonly capStatus: number;
  readonly capSaysWhy: boolean;
  readonly capRetryAfterMs: number | undefined;
  readonly maxMs: number;
  readonly lossChance: number;
  readonly partialChance: number;
  readonly failChance: number;
  readonly checkFaultChance: number;
  readonly numericIds: boolean;
  /** The jobs that the service refuses, by their prompt. */
  readonly refusedPrompts: ReadonlySet<string>;
  /** Are the jobs of a call made one after another, up to one that is refused? */
  readonly makesHalf: boolean;
  readonly refusesRequest: boolean;
  readonly refusesKeyAfter: number;
  readonly outage: { readonly from: number; readonly to: number } | undefined;
  readonly othersEat: number;
  readonly stalls: boolean;
}

interface File {
  readonly fileId: string;
  readonly prompt: string;
  readonly acceptedAt: number;
  readonly endsAt: number;
  readonly fails: boolean;
}

const minuteMs = 60_000;

/** A hostile media service on virtual time. It remembers all that it was asked. */
export class HostileService {
  readonly files = new Map<string, File>();
  readonly calls: { readonly at: number; readonly size: number; readonly pending: number }[] = [];
  /** Ids that left in an answer that the client could read. */
  readonly told = new Set<string>();
  /** Those that the client can follow. */
  readonly #followed = new Set<string>();
  #firstKey: string | undefined;
  readonly #time: VirtualTime;
  readonly #random: Random;
  readonly #habits: Habits;

  constructor(time: VirtualTime, random: Random, habits: Habits) {
    this.#time = time;
    this.#random = random;
    this.#habits = habits;
  }

  acceptedTimes(prompt: string): number {
    return [...this.files.values()].filter((file) => file.prompt === prompt).length;
  }

  /** Answers a generate call after a while, or not at all. */
  async generate(
    jobs: readonly MediaJob[],
    isDead: () => boolean,
    key: string,
  ): Promise<JobRecord[]> {
    this.#firstKey ??= key;
    const random = this.#random;
    await this.#time.sleep(50 + random.next() * 2_000);
    this.#failWhileOut();
    this.calls.push({ at: this.#time.now(), size: jobs.length, pending: this.pending });
    this.#refuse(jobs, key);
    const records = jobs.map((job) => this.#accept(promptOf(job)));
    if (random.chance(this.#habits.lossChance)) {
      await this.#time.sleep(random.chance(0.5) ? 30_000 : 100);
      throw random.chance(0.5)
        ? new ServerError('POST failed (500).', { status: 500, outcome: 'unknown' })
        : new ConnectionError('lost', { code: 'CONNECTION_LOST', outcome: 'unknown' });
    }
    if (random.chance(0.1)) {
      await this.#time.sleep(random.next() * 25_000); // a slow answer
    }
    return this.#answer(jobs, records, isDead());
  }

  check(fileId: string, key: string): { status: string; progress: number; download?: string } {
    this.#failWhileOut();
    if (this.#isRevoked(key)) {
      throw new AuthenticationError('GET was rejected (401).', {
        status: 401,
        outcome: 'rejected',
      });
    }
    if (this.#random.chance(this.#habits.checkFaultChance)) {
      throw this.#random.pick<() => PostreelError>([
        () => new ServerError('GET failed (502).', { status: 502, outcome: 'rejected' }),
        () => new RateLimitError('GET was rejected (429).', { status: 429, outcome: 'rejected' }),
        () => new ConnectionError('lost', { code: 'CONNECTION_LOST', outcome: 'rejected' }),
      ])();
    }
    const file = this.files.get(fileId);
    if (!file) {
      throw new ApiError('GET was rejected (404).', { status: 404, outcome: 'rejected' });
    }
    const now = this.#time.now();
    if (now < file.endsAt) {
      const share = (now - file.acceptedAt) / (file.endsAt - file.acceptedAt);
      const progress = Number.isFinite(file.endsAt) ? Math.floor(share * 100) : 1;
      return { status: 'processing', progress };
    }
    return file.fails
      ? { status: 'error', progress: 0 }
      : { status: 'success', progress: 100, download: `https://cdn.test/${fileId}` };
  }

  get pending(): number {
    const now = this.#time.now();
    return [...this.files.values()].filter(({ endsAt }) => endsAt > now).length;
  }

  /** What is pending as far as the answers have told, or may be after an answer that was lost. */
  get pendingAsTold(): number {
    const now = this.#time.now();
    return [...this.files.values()].filter(({ fileId, acceptedAt, endsAt }) => {
      const isKnown = this.#followed.has(fileId) || acceptedAt > now - 9 * minuteMs;
      return isKnown && endsAt > now && Number.isFinite(endsAt);
    }).length;
  }

  #failWhileOut(): void {
    const { outage } = this.#habits;
    const now = this.#time.now();
    if (outage && now >= outage.from && now < outage.to) {
      throw new ConnectionError('no route', { code: 'NOT_CONNECTED', outcome: 'not-sent' });
    }
  }

  // One key is revoked; those that replace it are not.
  #isRevoked(key: string): boolean {
    const { refusesKeyAfter } = this.#habits;
    return this.#time.now() >= refusesKeyAfter && key === (this.#firstKey ?? key);
  }

  #refuse(jobs: readonly MediaJob[], key: string): void {
    const { refusesRequest, refusedPrompts, makesHalf } = this.#habits;
    if (this.#isRevoked(key)) {
      throw new AuthenticationError('POST was rejected (401).', {
        status: 401,
        outcome: 'rejected',
      });
    }
    if (refusesRequest) {
      throw rejected(402, 'POST was rejected (402): out of credits.');
    }
    const isBad = (job: MediaJob) => refusedPrompts.has(promptOf(job));
    const free = this.#free;
    const bad = jobs.findIndex(isBad);
    const stop = Math.min(bad < 0 ? jobs.length : bad, Math.max(0, free));
    if (stop === jobs.length) {
      return;
    }
    if (makesHalf) {
      jobs.slice(0, stop).forEach((job) => this.#accept(promptOf(job)));
    }
    if (stop === bad || (!makesHalf && bad >= 0)) {
      throw rejected(this.#random.pick([400, 403, 422]), 'POST was rejected: no such voice.');
    }
    throw this.#full();
  }

  get #free(): number {
    const { cap, othersEat } = this.#habits;
    const eaten = this.#time.now() % (20 * minuteMs) < 10 * minuteMs ? othersEat : 0;
    return Math.max(1, cap - eaten) - this.pending;
  }

  #full(): PostreelError {
    const { capStatus: status, capSaysWhy, capRetryAfterMs: retryAfterMs } = this.#habits;
    const why = capSaysWhy ? ': too many pending jobs' : '';
    const message = `POST was rejected (${status})${why}.`;
    if (status === 429) {
      return new RateLimitError(message, { status, outcome: 'rejected', retryAfterMs });
    }
    return status === 503
      ? new ServerError(message, { status, outcome: 'unknown', retryAfterMs })
      : rejected(status, message);
  }

  #accept(prompt: string): File {
    const { maxMs, failChance, stalls } = this.#habits;
    const now = this.#time.now();
    const tookMs = maxMs * (0.1 + 0.9 * this.#random.next());
    const file = {
      fileId: `${this.#habits.numericIds ? '' : 'file_'}${this.files.size + 1}`,
      prompt,
      acceptedAt: now,
      endsAt: stalls && this.#random.chance(0.05) ? Number.POSITIVE_INFINITY : now + tookMs,
      fails: this.#random.chance(failChance),
    };
    this.files.set(file.fileId, file);
    return file;
  }

  #answer(jobs: readonly MediaJob[], files: readonly File[], isLost: boolean): JobRecord[] {
    const { partialChance, numericIds } = this.#habits;
    const idOf = ({ fileId }: File) => (numericIds ? Number(fileId) : fileId);
    const ids: (string | number | null)[] = files.map(idOf);
    if (this.#random.chance(partialChance)) {
      const hole = this.#random.whole(0, ids.length - 1);
      const kind = this.#random.whole(0, 2);
      if (kind === 0) {
        ids[hole] = null;
      } else if (kind === 1) {
        ids.splice(hole, 1);
      } else {
        ids[hole] = ids[0]!; // the same id twice
      }
    }
    for (const id of ids) {
      if (id !== null && !isLost) {
        this.told.add(String(id));
        if (ids.length === files.length) {
          this.#followed.add(String(id));
        }
      }
    }
    const isAudio = jobs.length === 1 && !('workflowType' in jobs[0]!);
    if (isAudio) {
      return audioRecords({ fileId: ids[0] });
    }
    return videoRecords({ folderId: 'folder_1', filesCreated: ids }, jobs.length);
  }
}

export function promptOf(job: MediaJob): string {
  return 'prompt' in job ? String(job.prompt) : job.content;
}

function rejected(status: number, message: string): ApiError {
  return new ApiError(message, { status, outcome: 'rejected' });
}
