/** The sound of an MP3, without what is only true of the whole file. */
export interface Mp3Part {
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** The same for parts that make one file. */
  readonly format: string;
}

interface Frame {
  readonly length: number;
  readonly format: string;
  /** Where the first frame may say how long the file is. */
  readonly infoAt: number;
}

// kbit/s of layer III, by the index in the header: MPEG 1, and the later ones for low rates.
const bitrates = {
  one: [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320],
  later: [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160],
};
const sampleRates = [44_100, 48_000, 32_000];
const id3Length = 10;
const trailerLength = 128;
const vbriAt = 36;

/** Takes the tags off an MP3; `undefined` for what is none. */
export function mp3Part(file: Uint8Array<ArrayBuffer>): Mp3Part | undefined {
  const start = id3v2Length(file);
  const first = frameAt(file, start);
  if (!first) {
    return undefined;
  }
  const hasTrailer = textAt(file, file.length - trailerLength, 3) === 'TAG';
  const end = hasTrailer ? file.length - trailerLength : file.length;
  // How long this part alone is, which players would take for the length of the whole.
  const info = [textAt(file, start + first.infoAt, 4), textAt(file, start + vbriAt, 4)];
  const hasInfo = ['Xing', 'Info'].includes(info[0] ?? '') || info[1] === 'VBRI';
  const bytes = file.subarray(start + (hasInfo ? first.length : 0), end);
  return { bytes, format: first.format };
}

// Seven bits of each of four bytes; a flag is set where there is a footer as well.
function id3v2Length(file: Uint8Array): number {
  if (textAt(file, 0, 3) !== 'ID3') {
    return 0;
  }
  const size = file.slice(6, id3Length).reduce((sum, byte) => sum * 128 + (byte & 127), 0);
  const hasFooter = ((file[5] ?? 0) & 0x10) !== 0;
  return id3Length + size + (hasFooter ? id3Length : 0);
}

function frameAt(file: Uint8Array, at: number): Frame | undefined {
  const [sync = 0, kind = 0, rates = 0, mode = 0] = file.slice(at, at + 4);
  const version = (kind >> 3) & 3;
  const isLayer3 = ((kind >> 1) & 3) === 1;
  const isMpeg1 = version === 3;
  const rate = sampleRates[(rates >> 2) & 3];
  const bitrate = bitrates[isMpeg1 ? 'one' : 'later'][rates >> 4];
  if (sync !== 255 || kind < 0xe0 || !isLayer3 || version === 1 || !rate || !bitrate) {
    return undefined;
  }
  const sampleRate = rate / (isMpeg1 ? 1 : version === 2 ? 2 : 4);
  const isMono = mode >> 6 === 3;
  const padding = (rates >> 1) & 1;
  return {
    length: Math.floor(((isMpeg1 ? 144 : 72) * bitrate * 1000) / sampleRate) + padding,
    format: `${version} ${sampleRate} ${isMono}`,
    infoAt: 4 + (isMpeg1 ? (isMono ? 17 : 32) : isMono ? 9 : 17),
  };
}

function textAt(file: Uint8Array, at: number, length: number): string {
  return at < 0 ? '' : String.fromCharCode(...file.slice(at, at + length));
}
