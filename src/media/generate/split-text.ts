// Chinese and Japanese put no space between sentences.
const sentenceEnd = /[.!?…]["'”’)\]]*\s+|[。！？][”’」』）]*|\n+/g;

/**
 * Cuts a text into parts of at most so many characters: at the ends of sentences, else between
 * words, else anywhere but inside a character. Nothing but white space between parts is lost.
 */
export function splitText(text: string, maxLength: number): string[] {
  const parts: string[] = [];
  let rest = text.trim();
  while (rest.length > maxLength) {
    const cut = cutAt(rest, maxLength);
    parts.push(rest.slice(0, cut).trimEnd());
    rest = rest.slice(cut).trimStart();
  }
  if (rest !== '') {
    parts.push(rest);
  }
  return parts;
}

function cutAt(text: string, maxLength: number): number {
  // One character more: an end of a sentence may lie right behind the limit.
  const head = text.slice(0, maxLength + 1);
  const ends = [...head.matchAll(sentenceEnd)].map(
    ({ index, 0: end }) => index + end.trimEnd().length,
  );
  const last = ends.filter((end) => end > 0 && end <= maxLength).at(-1);
  if (last !== undefined) {
    return last;
  }
  const space = head.search(/\s\S*$/);
  if (space > 0) {
    return space;
  }
  return isInsideCharacter(text, maxLength) ? maxLength - 1 : maxLength;
}

function isInsideCharacter(text: string, index: number): boolean {
  const code = text.charCodeAt(index);
  return code >= 0xdc00 && code <= 0xdfff;
}
