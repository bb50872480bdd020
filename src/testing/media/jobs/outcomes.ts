import type { MediaFile, Outcome } from '../types.js';

/** A job before its times are known. */
export type Job = Pick<MediaFile, 'fileId' | 'kind' | 'name' | 'settings'>;

/** The scripted endings that wait for jobs. */
export interface Outcomes {
  /** Scripts the ending of the next job that matches; the answer takes it back. */
  script(outcome: Outcome, match?: (job: Job) => boolean): () => void;
  /** The ending of this job, if one was scripted. */
  take(job: Job): Outcome | undefined;
  /** The ending that an accepted job was given. */
  of(fileId: string): Outcome;
  clear(): void;
}

interface Script {
  readonly outcome: Outcome;
  readonly match: (job: Job) => boolean;
  left: number;
}

export function createOutcomes(): Outcomes {
  let scripts: Script[] = [];
  const taken = new Map<string, Outcome>();
  return {
    script(outcome, match = () => true) {
      const script = { outcome, match, left: outcome.times ?? 1 };
      scripts.push(script);
      return () => {
        scripts = scripts.filter((other) => other !== script);
      };
    },
    take(job) {
      const script = scripts.find(({ left, match }) => left > 0 && match(job));
      if (script === undefined) {
        return undefined;
      }
      script.left -= 1;
      taken.set(job.fileId, script.outcome);
      return script.outcome;
    },
    of: (fileId) => taken.get(fileId) ?? {},
    clear() {
      scripts = [];
      taken.clear();
    },
  };
}
