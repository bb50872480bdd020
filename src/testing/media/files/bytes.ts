/** `Uint8Array<ArrayBuffer>`, in words that TypeScript before 5.7 reads too: there it is no generic. */
export type Bytes = ReturnType<Uint8ArrayConstructor['of']>;

/** A prime, so that parts put together at a wrong offset never look right. */
const periodBytes = 65_521;

/** Bytes `from` to before `to` of a noise: the same for the same seed, different everywhere else. */
export function noiseOf(seed: string, from: number, to: number): Bytes {
  const bytes = new Uint8Array(to - from);
  const start = hash(seed);
  for (let index = 0; index < bytes.length; index += 1) {
    const place = from + index;
    const turn = Math.floor(place / periodBytes);
    bytes[index] = (Math.imul((place % periodBytes) + start, 2_654_435_761) >>> 24) ^ turn;
  }
  return bytes;
}

/** A short text that differs for different seeds. */
export const hashText = (seed: string) => hash(seed).toString(16).padStart(8, '0');

/** FNV-1a */
function hash(seed: string): number {
  let value = 2_166_136_261;
  for (const character of seed) {
    value = Math.imul(value ^ (character.codePointAt(0) ?? 0), 16_777_619) >>> 0;
  }
  return value;
}
