/** The name that was probably meant: a typo away, or part of what was written. */
export function nearest(written: string, names: readonly string[]): string | undefined {
  const slips = names
    .map((name) => ({ name, slips: distance(written.toLowerCase(), name.toLowerCase()) }))
    .filter(({ name, slips }) => slips <= Math.min(2, Math.floor(name.length / 3)))
    .sort((a, b) => a.slips - b.slips);
  return slips[0]?.name ?? names.find((name) => isPart(name, written));
}

// `templateId` for `template`, `replyTo` for `reply`.
function isPart(name: string, written: string): boolean {
  const [short, long] = name.length < written.length ? [name, written] : [written, name];
  return short.length >= 4 && long.toLowerCase().startsWith(short.toLowerCase());
}

/** How many letters must be changed, added, left out or swapped with the next one. */
function distance(a: string, b: string): number {
  let before: number[] = [];
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const change = at(row, j - 1) + (a[i - 1] === b[j - 1] ? 0 : 1);
      const isSwap = a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      const swap = isSwap && i > 1 && j > 1 ? at(before, j - 2) + 1 : Infinity;
      next.push(Math.min(at(row, j) + 1, at(next, j - 1) + 1, change, swap));
    }
    before = row;
    row = next;
  }
  return at(row, b.length);
}

function at(row: readonly number[], index: number): number {
  return row[index] ?? Infinity;
}
