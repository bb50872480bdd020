import { notJoinableError } from './error.js';

type Bytes = Uint8Array<ArrayBuffer>;

/** The audio frames of an MP3, without its tags and its length information. */
export interface Mp3Part {
  readonly frames: readonly Bytes[];
  /** The first frame of the file: its format applies to all frames. */
  readonly kind: Frame;
}

interface Frame {
  /** The four bytes at the start of each frame. */
  readonly header: Bytes;
  readonly bytes: number;
  readonly milliseconds: number;
  /** Version, sample rate and channels, as text. Only parts with an equal format can be joined. */
  readonly format: string;
  /**
   * The offset in the first frame at which an `Xing` or `Info` header with the length of the file may begin.
   */
  readonly infoAt: number;
}

// Bitrates of layer III in kbit/s, by the index in the header: of MPEG 1, and of MPEG 2 and 2.5.
const bitrates = {
  one: [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320],
  later: [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160],
};
const sampleRates = [44_100, 48_000, 32_000];
const headerBytes = 4;
const id3Bytes = 10;
const vbriAt = 36;

/** Splits an MP3 into its frames; `undefined` when the file is not an MP3. */
export function mp3Part(file: Bytes): Mp3Part | undefined {
  const start = soundAt(file);
  const kind = frameAt(file, start);
  if (!kind) {
    return undefined;
  }
  // Skips the length information of this part: players would take it for the length of the whole file.
  const info = [textAt(file, start + kind.infoAt, 4), textAt(file, start + vbriAt, 4)];
  const hasInfo = ['Xing', 'Info'].includes(info[0] ?? '') || info[1] === 'VBRI';
  const frames: Bytes[] = [];
  for (let at = start + (hasInfo ? kind.bytes : 0); at < file.length;) {
    const frame = frameAt(file, at);
    const isSound = frame?.format === kind.format && at + frame.bytes <= file.length;
    if (isSound) {
      frames.push(file.subarray(at, at + frame.bytes));
    }
    at += isSound ? frame.bytes : 1; // skips tags at the end, and a frame that was cut off
  }
  return { frames, kind };
}

/**
 * Joins the frames of all parts to one file. Its first frame contains the length, for any mix of bitrates.
 */
export function joinMp3(parts: readonly Mp3Part[], gapMs: number): Bytes {
  const [first] = parts;
  if (!first || parts.some(({ kind }) => kind.format !== first.kind.format)) {
    throw notJoinableError('they differ in version, sample rate or channels');
  }
  const { kind } = first;
  const gap = new Array<Bytes>(Math.round(gapMs / kind.milliseconds)).fill(
    createSilentFrame(kind, 0),
  );
  const frames = parts.flatMap((part, index) =>
    index === 0 ? part.frames : [...gap, ...part.frames],
  );
  const info = createSilentFrame(kind, kind.infoAt + infoBytes);
  const file = new Uint8Array(frames.reduce((sum, { length }) => sum + length, info.length));
  file.set(info);
  let at = info.length;
  const starts = frames.map((frame) => {
    file.set(frame, at);
    at += frame.length;
    return at - frame.length;
  });
  const isVariable = new Set(frames.map(([, , rates = 0]) => rates >> 4)).size > 1;
  writeInfo(file, kind.infoAt, { word: isVariable ? 'Xing' : 'Info', starts });
  return file;
}

const infoPlaces = 100;
const infoBytes = 16 + infoPlaces;
const hasFramesBytesAndPlaces = 7;

/**
 * Writes the `Xing` or `Info` header: the number of frames and bytes, and a seek table. For each percent of
 * the frames, the table has the place where they begin, in 256ths of the file.
 */
function writeInfo(
  file: Bytes,
  at: number,
  { word, starts }: { readonly word: string; readonly starts: readonly number[] },
): void {
  const view = new DataView(file.buffer);
  file.set(new TextEncoder().encode(word), at);
  view.setUint32(at + 4, hasFramesBytesAndPlaces);
  view.setUint32(at + 8, starts.length);
  view.setUint32(at + 12, file.length);
  for (let percent = 0; percent < infoPlaces; percent += 1) {
    const start = starts[Math.floor((percent * starts.length) / infoPlaces)] ?? 0;
    file[at + 16 + percent] = Math.floor((start * 256) / file.length);
  }
}

/** Creates the smallest silent frame of this kind that has at least `roomBytes`. */
function createSilentFrame({ header, infoAt }: Frame, roomBytes: number): Bytes {
  const [sync = 0, kind = 0, rates = 0, mode = 0] = header;
  for (let index = 1; index < bitrates.one.length; index += 1) {
    // A header without a checksum and without padding.
    const own = Uint8Array.of(sync, kind | 1, (index << 4) | (rates & 0x0c), mode);
    const frame = frameAt(own, 0);
    if (frame && frame.bytes >= Math.max(infoAt, roomBytes)) {
      const bytes = new Uint8Array(frame.bytes);
      bytes.set(own);
      return bytes;
    }
  }
  throw new TypeError('a frame of the highest bitrate has room for everything');
}

// The offset of the first frame: after the tags, and after the zeros that may pad a tag.
function soundAt(file: Bytes): number {
  let at = 0;
  while (textAt(file, at, 3) === 'ID3') {
    at += id3v2Bytes(file.subarray(at, at + id3Bytes));
  }
  while (file[at] === 0) {
    at += 1;
  }
  return at;
}

// The size of an ID3v2 tag: seven bits of each of four bytes. A flag shows whether the tag also has a footer.
function id3v2Bytes(head: Bytes): number {
  const size = head.subarray(6).reduce((sum, byte) => sum * 128 + (byte & 127), 0);
  const hasFooter = ((head[5] ?? 0) & 0x10) !== 0;
  return id3Bytes + size + (hasFooter ? id3Bytes : 0);
}

function frameAt(file: Bytes, at: number): Frame | undefined {
  const header = file.subarray(at, at + headerBytes);
  const [sync = 0, kind = 0, rates = 0, mode = 0] = header;
  const version = (kind >> 3) & 3;
  const isLayer3 = ((kind >> 1) & 3) === 1;
  const isMpeg1 = version === 3;
  const rate = sampleRates[(rates >> 2) & 3];
  const bitrate = bitrates[isMpeg1 ? 'one' : 'later'][rates >> 4];
  if (sync !== 255 || kind < 0xe0 || !isLayer3 || version === 1 || !rate || !bitrate) {
    return undefined;
  }
  const sampleRate = rate / (isMpeg1 ? 1 : version === 2 ? 2 : 4);
  const samples = isMpeg1 ? 1_152 : 576;
  const isMono = mode >> 6 === 3;
  const padding = (rates >> 1) & 1;
  return {
    header,
    bytes: Math.floor(((samples / 8) * bitrate * 1_000) / sampleRate) + padding,
    milliseconds: (samples * 1_000) / sampleRate,
    format: `${version} ${sampleRate} ${isMono}`,
    infoAt: headerBytes + (isMpeg1 ? (isMono ? 17 : 32) : isMono ? 9 : 17),
  };
}

function textAt(file: Uint8Array, at: number, length: number): string {
  return String.fromCharCode(...file.subarray(at, at + length));
}
