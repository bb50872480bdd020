/** How long a job took, or has taken so far, for each minute of its result. */
export interface PaceSample {
  readonly pace: number;
  /** False for a job in progress: it takes at least as long. */
  readonly isFinished: boolean;
}

/** The pace of jobs, as far as it is known: its logarithm has this mean and this spread. */
export interface Pace {
  readonly mean: number;
  readonly spread: number;
}

// Before anything is known the pace of nine in ten jobs is taken to be within a factor of 1.6.
const usualSpread = 0.3;
// So many jobs are as good as that.
const priorJobs = 3;
const rounds = 15;
// What a job in progress says, in finished ones.
const unfinishedWeight = 0.3;

/**
 * How the pace of jobs is spread. Jobs in progress count for at least what they have taken so far:
 * without them it would be too short, since short jobs are finished first.
 */
export class PaceSpread {
  readonly #pace: Pace;
  readonly #jobs: number;

  constructor(samples: readonly PaceSample[]) {
    const known = samples.filter(({ pace }) => pace > 0);
    const finished = known.filter(({ isFinished }) => isFinished);
    const ages = known.filter(({ isFinished }) => !isFinished).map(({ pace }) => Math.log(pace));
    const logs = finished.map(({ pace }) => Math.log(pace));
    let pace: Pace = { mean: average(logs), spread: usualSpread };
    for (let round = 0; round < rounds; round++) {
      pace = fit(logs, ages, pace);
    }
    this.#pace = pace;
    this.#jobs = finished.length + unfinishedWeight * ages.length;
  }

  /** One of the paces that would explain what was seen. */
  draw(random: () => number): Pace {
    const freedom = this.#jobs + priorJobs;
    const spread = this.#pace.spread / Math.sqrt(chiSquared(freedom, random) / freedom);
    const mean = this.#pace.mean + (spread / Math.sqrt(this.#jobs)) * normal(random);
    return { mean, spread };
  }
}

/** How long one job of this pace takes, for each minute, when it has taken so long already. */
export function takes({ mean, spread }: Pace, soFar: number, random: () => number): number {
  const least = (Math.log(soFar) - mean) / spread;
  return Math.exp(mean + spread * normalAbove(least, random));
}

// Maximum likelihood, a step at a time: what is not finished counts for what it is likely to take.
function fit(logs: readonly number[], ages: readonly number[], { mean, spread }: Pace): Pace {
  const guesses = ages.map((age) => {
    const least = (age - mean) / spread;
    const beyond = density(least) / Math.max(1e-9, 1 - shareBelow(least));
    const variance = Math.max(0.05, 1 + least * beyond - beyond ** 2);
    return { value: mean + spread * beyond, variance: spread ** 2 * variance };
  });
  const all = [...logs, ...guesses.map(({ value }) => value)];
  const center = average(all);
  const squares = sum(all.map((value) => (value - center) ** 2));
  const unsure = sum(guesses.map(({ variance }) => variance));
  const total = squares + unsure + priorJobs * usualSpread ** 2;
  return { mean: center, spread: Math.sqrt(total / (all.length - 1 + priorJobs)) };
}

function density(value: number): number {
  return Math.exp(-(value ** 2) / 2) / Math.sqrt(2 * Math.PI);
}

/** The normal distribution, to three digits. */
function shareBelow(value: number): number {
  return 1 / (1 + Math.exp(-1.5976 * value - 0.07056 * value ** 3));
}

function normal(random: () => number): number {
  return Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
}

function normalAbove(least: number, random: () => number): number {
  if (least > 1) {
    const rate = (least + Math.sqrt(least ** 2 + 4)) / 2;
    return least - Math.log(1 - random()) / rate;
  }
  let value = normal(random);
  while (value < least) {
    value = normal(random);
  }
  return value;
}

function chiSquared(freedom: number, random: () => number): number {
  const part = 2 / (9 * freedom);
  return freedom * Math.max(0.05, 1 - part + Math.sqrt(part) * normal(random)) ** 3;
}

function average(values: readonly number[]): number {
  return sum(values) / Math.max(1, values.length);
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
