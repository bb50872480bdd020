/** The properties that a player reads from an MP3: its stated length, and the length of its frames. */
export function playedMp3(bytes: Uint8Array) {
  const frames: { at: number; length: number; kbps: number; seconds: number }[] = [];
  const strays: number[] = [];
  let at = 0;
  while (at < bytes.length) {
    const frame = frameAt(bytes, at);
    if (frame && at + frame.length <= bytes.length) {
      frames.push({ at, ...frame });
      at += frame.length;
    } else {
      strays.push(at);
      at += 1;
    }
  }
  const [first, ...rest] = frames;
  const head = first && headOf(bytes, first.at, first.seconds);
  const sound = head ? rest : frames;
  const seconds = sound.reduce((sum, frame) => sum + frame.seconds, 0);
  // Without a head a player takes the first bitrate for that of the whole file.
  const estimate = first ? (bytes.length * 8) / (first.kbps * 1_000) : 0;
  return { frames: sound, strays, head, seconds, shownSeconds: head?.seconds ?? estimate };
}

function headOf(bytes: Uint8Array, at: number, secondsPerFrame: number) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const isMpeg1 = ((bytes[at + 1]! >> 3) & 3) === 3;
  const isMono = bytes[at + 3]! >> 6 === 3;
  const place = at + 4 + (isMpeg1 ? (isMono ? 17 : 32) : isMono ? 9 : 17);
  const word = new TextDecoder().decode(bytes.slice(place, place + 4));
  if (!['Xing', 'Info'].includes(word) || view.getUint32(place + 4) !== 7) {
    return undefined;
  }
  const frames = view.getUint32(place + 8);
  const places = [...bytes.slice(place + 16, place + 116)];
  return {
    word,
    frames,
    bytes: view.getUint32(place + 12),
    places,
    seconds: frames * secondsPerFrame,
  };
}

function frameAt(bytes: Uint8Array, at: number) {
  const [sync = 0, kind = 0, rates = 0] = bytes.slice(at, at + 3);
  const version = (kind >> 3) & 3;
  const isMpeg1 = version === 3;
  const sampleRate =
    [44_100, 48_000, 32_000][(rates >> 2) & 3]! / (isMpeg1 ? 1 : version === 2 ? 2 : 4);
  const table = isMpeg1
    ? [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320]
    : [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160];
  const kbps = table[rates >> 4];
  if (sync !== 0xff || kind < 0xe0 || ((kind >> 1) & 3) !== 1 || !kbps || !sampleRate) {
    return undefined;
  }
  const samples = isMpeg1 ? 1_152 : 576;
  const length = Math.floor((samples * 125 * kbps) / sampleRate) + ((rates >> 1) & 1);
  return { length, kbps, seconds: samples / sampleRate };
}

/** The chunks of a WAV, by the lengths that it says, with the pads that its standard asks for. */
export function playedWav(bytes: Uint8Array) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const textAt = (at: number) => new TextDecoder().decode(bytes.slice(at, at + 4));
  const chunks = new Map<string, Uint8Array>();
  let at = 12;
  while (at < bytes.length) {
    const size = view.getUint32(at + 4, true);
    chunks.set(textAt(at), bytes.slice(at + 8, at + 8 + size));
    at += 8 + size + (size % 2);
  }
  const byteRate = view.getUint32(28, true);
  const data = chunks.get('data') ?? new Uint8Array();
  return {
    isWhole: textAt(0) === 'RIFF' && textAt(8) === 'WAVE' && at === bytes.length,
    saysBytes: view.getUint32(4, true) + 8,
    names: [...chunks.keys()],
    data,
    seconds: data.length / byteRate,
  };
}

/** The boxes of an MP4, those within boxes included, as `moov/trak/tkhd`. */
export function boxesOf(bytes: Uint8Array, path = ''): Map<string, Uint8Array> {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const boxes = new Map<string, Uint8Array>();
  for (let at = 0; at < bytes.length;) {
    const size = view.getUint32(at);
    const name = path + new TextDecoder().decode(bytes.slice(at + 4, at + 8));
    if (size < 8 || at + size > bytes.length) {
      throw new Error(`${name} does not fit`);
    }
    const content = bytes.subarray(at + 8, at + size);
    boxes.set(name, content);
    if (/(moov|trak|mdia|minf|stbl)$/.test(name)) {
      boxesOf(content, `${name}/`).forEach((value, key) => boxes.set(key, value));
    }
    at += size;
  }
  return boxes;
}
