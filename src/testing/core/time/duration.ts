const unitMs: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

/** A span of time: `'500ms'`, `'3s'`, `'10m'`, `'2h'`, `'1d'`, or a number of milliseconds. */
export type Duration = string | number;

/** Turns a duration into milliseconds; throws on anything it cannot read. */
export function parseDuration(duration: Duration): number {
  const ms = typeof duration === 'number' ? duration : readText(duration);
  if (Number.isNaN(ms) || ms < 0) {
    throw new RangeError(
      `Not a duration: ${JSON.stringify(duration)}. Use '500ms', '3s', '10m', '2h', '1d' or a number of milliseconds.`,
    );
  }
  return ms;
}

function readText(text: string): number {
  const [, amount, unit = ''] = /^\s*(\d+(?:\.\d+)?)\s*(ms|s|m|h|d)\s*$/.exec(text) ?? [];
  return Number(amount) * (unitMs[unit] ?? Number.NaN);
}
