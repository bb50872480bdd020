/** The name that was probably meant: at most two typos away, or a part of the written name. */
export function findSimilar(written: string, names: readonly string[]): string | undefined {
  const similar = names
    .map((name) => ({ name, slips: distance(written.toLowerCase(), name.toLowerCase()) }))
    .filter(({ name, slips }) => slips <= Math.min(2, Math.floor(name.length / 3)))
    .filter(({ name }) => !isOpposite(name, written))
    .sort((a, b) => a.slips - b.slips);
  return similar[0]?.name ?? names.find((name) => isPart(name, written));
}

// `unsubscribed` is the opposite of `subscribed`.
function isOpposite(name: string, written: string): boolean {
  const prefix = written.toLowerCase().split(name.toLowerCase())[0] ?? '';
  return prefix.length < written.length && /^(is)?(un|non|not?|dis)[_-]?$/.test(prefix);
}

// Finds `template` for `templateId`, and `reply` for `replyTo`.
function isPart(name: string, written: string): boolean {
  const [short, long] = name.length < written.length ? [name, written] : [written, name];
  return short.length >= 4 && long.toLowerCase().startsWith(short.toLowerCase());
}

/** The number of letters to change, add, remove or swap with the next one. */
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
