import type { MediaJob, VideoJob } from 'postreel';
import { calmRun } from './calm.js';
import { Random } from './random.js';

/** A mix of videos: each kind takes its own time for a minute, and each video has its own luck. */
export interface Mix {
  readonly count: number;
  /** How long a minute of each kind takes, in seconds. */
  readonly paces: readonly number[];
  /** How far a video may be off the pace of its kind: 0.2 for 20 %. */
  readonly luck: number;
}

const sources = ['idea', 'script', 'url'] as const;

/** Makes the videos of a mix on virtual time: how long it took over the least time possible. */
export async function makespanOf({ count, paces, luck }: Mix, seed: number): Promise<number> {
  const random = new Random(seed);
  const tookMs = new Map<MediaJob, number>();
  for (let index = 0; index < count; index++) {
    const duration = 1.5 + 3 * random.next();
    const kind = random.whole(0, paces.length - 1);
    const ownLuck = 1 - luck + 2 * luck * random.next();
    tookMs.set(videoOf(index, kind, duration), duration * paces[kind]! * 1_000 * ownLuck);
  }
  const times = [...tookMs.values()];
  const least = Math.max(times.reduce((sum, time) => sum + time, 0) / 20, ...times);
  return (await calmRun([...tookMs.keys()], (job) => tookMs.get(job)!)) / least;
}

function videoOf(index: number, kind: number, duration: number): VideoJob {
  const workflowType = sources[kind % sources.length]!;
  const visuals = kind < sources.length ? 'stock' : 'ai';
  const text = `video ${index}`;
  const base = { workflowFormat: 'video', voiceId: 'voice_1', visuals, duration } as const;
  return workflowType === 'idea'
    ? { ...base, workflowType, prompt: text }
    : { ...base, workflowType, content: text };
}
