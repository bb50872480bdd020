/**
 * How texts of agents and services stand in a plan: they cannot pretend to be another line of it, and
 * nothing in them steers a terminal or reorders what is read.
 */

const maxShown = 40_000;

/** A value in one line, as JSON. */
export function inline(value: unknown): string {
  return value === undefined ? 'nothing' : visible(JSON.stringify(value));
}

/** Addresses, as JSON: a letter of another script that looks like one of ours is written out. */
export function addresses(...values: readonly unknown[]): string {
  const text = values.map(inline).join(', ');
  return text.replace(/[^\x20-\x7e]/gu, coded);
}

/** A longer text, whole: each line behind a bar. */
export function quoted(text: string): string {
  const lines = text.split(/\r\n|[\n\r\u2028\u2029]/u);
  return lines.map((line) => `| ${visible(line)}`).join('\n');
}

/** Is this short enough for a person to read before saying yes? */
export function isReadable(texts: readonly string[]): boolean {
  return texts.reduce((sum, { length }) => sum + length, 0) <= maxShown;
}

/** Whatever is not seen, or looks like a space and is none, as its code. */
function visible(text: string): string {
  return text.replace(
    /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Default_Ignorable_Code_Point}\u2800]|(?! )\p{Zs}/gu,
    coded,
  );
}

function coded(character: string): string {
  return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
}
