import { MediaClient, MediaFile, type JoinOptions } from 'postreel';
import { createFakeMedia } from 'postreel/testing';
import { describe, expect, it } from 'vitest';
import { playedMp3, playedWav } from '../../../support/media/sound.js';

type Bytes = Uint8Array<ArrayBuffer>;

const text = (value: string): Bytes => new TextEncoder().encode(value);
const join = (...parts: readonly Uint8Array[]): Bytes => new Uint8Array(Buffer.concat(parts));
const u32 = (value: number): Bytes => {
  const bytes = new Uint8Array(4);
  new DataView(bytes.buffer).setUint32(0, value, true);
  return bytes;
};

/** What `joinAudio()` makes of files with these bytes. */
async function joined(parts: readonly Uint8Array[], options?: JoinOptions) {
  const fetch: typeof globalThis.fetch = (url) =>
    Promise.resolve(new Response(parts[Number((url as string).at(-1))]!.slice()));
  const files = parts.map((_, index) => new MediaFile('f', `https://cdn.test/${index}`, { fetch }));
  const media = new MediaClient({ apiKey: 'key', baseUrl: 'https://media.test' });
  const blob = await media.joinAudio(files, options);
  return { type: blob.type, bytes: new Uint8Array(await blob.arrayBuffer()) };
}

/** MPEG 1, layer III, 44.1 kHz, filled with a number; 128 kbit/s make frames of 417 bytes. */
function frame(fill: number, { mode = 0x00, rates = 0x90 } = {}): Bytes {
  const kbps = [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320][rates >> 4]!;
  const rate = [44_100, 48_000, 32_000][(rates >> 2) & 3]!;
  const bytes = new Uint8Array(Math.floor((144_000 * kbps) / rate)).fill(fill);
  bytes.set([0xff, 0xfb, rates, mode]);
  return bytes;
}

function info(word: string, at = 36): Bytes {
  const bytes = frame(0);
  bytes.set(text(word), at);
  return bytes;
}

const id3 = join(text('ID3'), new Uint8Array([4, 0, 0, 0, 0, 1, 2]), new Uint8Array(130));
const trailer = join(text('TAG'), new Uint8Array(125));
const frameSeconds = 1_152 / 44_100;

/** The frames of a joined file, without the one that says how long it is. */
async function soundOf(parts: readonly Uint8Array[], options?: JoinOptions) {
  const { bytes, type } = await joined(parts, options);
  const played = playedMp3(bytes);
  const fills = played.frames.map(({ at }) => bytes[at + 40]!);
  return { ...played, bytes, type, fills };
}

describe('parts of MP3', () => {
  it('become one file of their frames, in order, with its length', async () => {
    const { type, fills, head, bytes, strays } = await soundOf([
      join(frame(1), frame(2)),
      frame(3),
    ]);
    expect([type, fills, strays]).toEqual(['audio/mpeg', [1, 2, 3], []]);
    expect(head).toMatchObject({ word: 'Info', frames: 3, bytes: bytes.length });
    expect(bytes.slice(-3 * 417)).toEqual(join(frame(1), frame(2), frame(3)));
  });

  it('lose their tags, because these describe only the part', async () => {
    const parts = [
      join(id3, info('Xing'), frame(1), trailer),
      join(id3, id3, new Uint8Array(7), info('Info'), frame(2), text('APETAGEX'), trailer),
      join(info('VBRI'), frame(3), trailer),
    ];
    const { fills, strays, head } = await soundOf(parts);
    expect([fills, strays, head?.frames]).toEqual([[1, 2, 3], [], 3]);
  });

  it('have the right duration and seek table when the bitrate changes', async () => {
    const loud = Array.from({ length: 60 }, () => frame(1, { rates: 0xe0 })); // 320 kbit/s
    const quiet = Array.from({ length: 240 }, () => frame(2, { rates: 0x10 })); // 32 kbit/s
    const { seconds, shownSeconds, head, bytes, frames } = await soundOf([
      join(info('Xing'), ...quiet),
      join(info('Xing'), ...loud),
    ]);
    expect(seconds).toBeCloseTo(300 * frameSeconds, 6);
    expect(shownSeconds).toBeCloseTo(seconds, 6);
    expect(head?.word).toBe('Xing');
    const places = [0, 25, 50, 75, 99].map((percent) => {
      const at = (head!.places[percent]! * bytes.length) / 256;
      return (frames.filter((one) => one.at <= at).length / frames.length) * 100;
    });
    [0, 25, 50, 75, 99].forEach((percent, index) =>
      expect(Math.abs(places[index]! - percent)).toBeLessThan(3),
    );
  });

  it('lose a frame that was cut off at their end', async () => {
    const { fills, strays } = await soundOf([join(frame(1), frame(9).slice(0, 300)), frame(2)]);
    expect([fills, strays]).toEqual([[1, 2], []]);
  });

  it('can be separated by silence', async () => {
    const { fills, seconds, strays } = await soundOf([frame(1), frame(2)], { gapMs: 500 });
    expect([fills.filter(Boolean), strays]).toEqual([[1, 2], []]);
    expect(Math.abs(seconds - 2 * frameSeconds - 0.5)).toBeLessThan(frameSeconds / 2);
  });

  it.each([
    ['of another sample rate', frame(2, { rates: 0x94 })],
    ['in mono', frame(2, { mode: 0xc0 })],
    ['that are no sound', new Uint8Array([1, 2, 3])],
    ['of WAV', wav(new Uint8Array([1, 2]))],
  ])('cannot be joined with parts %s', async (_, other) => {
    await expect(joined([frame(1), other])).rejects.toMatchObject({
      name: 'InvalidRequestError',
      code: 'AUDIO_NOT_JOINABLE',
    });
  });
});

interface WavFacts {
  readonly rate?: number;
  readonly bits?: number;
  /** The length that the file says of its sound. */
  readonly size?: number;
  /** The length that it says of itself. */
  readonly riff?: number;
  readonly before?: readonly Uint8Array[];
  readonly after?: readonly Uint8Array[];
}

/** PCM in mono. */
function wav(sound: Uint8Array, facts: WavFacts = {}): Bytes {
  const { rate = 8_000, bits = 8, size = sound.length, before = [], after = [] } = facts;
  const format = new DataView(new ArrayBuffer(16));
  format.setUint16(0, 1, true);
  format.setUint16(2, 1, true);
  format.setUint32(4, rate, true);
  format.setUint32(8, (rate * bits) / 8, true);
  format.setUint16(12, bits / 8, true);
  format.setUint16(14, bits, true);
  const pad = size === sound.length ? new Uint8Array(size % 2) : new Uint8Array();
  const body = join(
    text('WAVE'),
    ...[...before, chunk('fmt ', new Uint8Array(format.buffer))],
    ...[text('data'), u32(size), sound, pad, ...after],
  );
  return join(text('RIFF'), u32(facts.riff ?? body.length), body);
}

/** A chunk with the pad that an odd length needs. */
const chunk = (name: string, content: Uint8Array) =>
  join(text(name), u32(content.length), content, new Uint8Array(content.length % 2));

const sound = (...values: readonly number[]) => new Uint8Array(values);

describe('parts of WAV', () => {
  it('become one file under one header', async () => {
    const whole = await joined([wav(sound(1, 2)), wav(sound(3, 4, 5, 6))]);
    expect(whole.type).toBe('audio/wav');
    expect(whole.bytes).toEqual(wav(sound(1, 2, 3, 4, 5, 6)));
  });

  it.each([
    ['0, and nothing of the whole', { size: 0, riff: 0 }],
    ['0, and the header of the whole', { size: 0, riff: 36 }],
    ['the highest number', { size: 0xffff_ffff, riff: 0xffff_ffff }],
    ['more than there is', { size: 0x7fff_ffff }],
  ])('reach to the end of the file when their header has the length %s', async (_, facts) => {
    const whole = await joined([wav(sound(1, 2), facts), wav(sound(3, 4), facts)]);
    expect(whole.bytes).toEqual(wav(sound(1, 2, 3, 4)));
  });

  it('may be empty', async () => {
    const empty = wav(sound(), { after: [chunk('LIST', text('INFO'))] });
    expect((await joined([wav(sound(1, 2)), empty])).bytes).toEqual(wav(sound(1, 2)));
  });

  it('lose the chunks before and after the sound, also those with odd lengths', async () => {
    const facts = { before: [chunk('LIST', text('INFOx')), chunk('junk', text('a'))] };
    const parts = [
      wav(sound(1, 2, 3), { ...facts, after: [chunk('LIST', text('INFO'))] }),
      wav(sound(4, 5), {
        before: [chunk('bext', text('abc'))],
        after: [chunk('id3 ', text('ID3'))],
      }),
    ];
    const { bytes } = await joined(parts);
    const played = playedWav(bytes);
    expect(played).toMatchObject({ isWhole: true, names: ['fmt ', 'data'] });
    expect([...played.data]).toEqual([1, 2, 3, 4, 5]);
    expect(played.saysBytes).toBe(bytes.length); // with the pad of an odd length
  });

  it('lose half a sample at their end', async () => {
    const facts = { bits: 16, size: 0, riff: 0 };
    const { bytes } = await joined([wav(sound(1, 1, 2, 2, 3), facts), wav(sound(4, 4), facts)]);
    expect([...playedWav(bytes).data]).toEqual([1, 1, 2, 2, 4, 4]);
  });

  it.each([
    [8, 0x80],
    [16, 0],
  ])('can be separated by silence of %i bits', async (bits, silent) => {
    const one = wav(sound(1, 1), { bits, rate: 1_000 });
    const { data } = playedWav((await joined([one, one], { gapMs: 3 })).bytes);
    const gap = new Array<number>((3 * bits) / 8).fill(silent);
    expect([...data]).toEqual([1, 1, ...gap, 1, 1]);
  });

  it('cannot be joined with those of another sample rate', async () => {
    const other = wav(sound(2), { rate: 16_000 });
    await expect(joined([wav(sound(1)), other])).rejects.toThrow('cannot be joined');
  });
});

describe('joinAudio()', () => {
  it('rejects an invalid list before it downloads anything', async () => {
    const media = new MediaClient({ apiKey: 'key', baseUrl: 'https://media.test' });
    await expect(media.joinAudio([])).rejects.toThrow('there are none');
    const results = [{ fileId: 'file_1', file: undefined }] as unknown as MediaFile[]; // as JavaScript may
    await expect(media.joinAudio(results)).rejects.toThrow('`files[0]` must be a finished file');
    await expect(media.joinAudio([], { gapMs: -1 })).rejects.toThrow('`gapMs` must be');
    await expect(media.joinAudio([], { gapMs: Infinity })).rejects.toThrow('`gapMs` must be');
  });

  /** A text of three parts as one file, and how long its parts are. */
  async function spoken(format: 'mp3' | 'wav') {
    const fake = createFakeMedia();
    const media = new MediaClient(fake.options);
    const content = 'It was a dark and stormy night. '.repeat(700);
    const parts = await media.generate.longAudio({ content, voiceId: 'voice_1', format });
    const ids = parts.map(({ fileId }) => fileId);
    const files = await media.waitForFiles(ids, { settle: 'first-error' });
    const whole = await media.joinAudio(files, { gapMs: 240 });
    const gaps = 2 * 0.24;
    const seconds = fake.files.reduce((sum, { lengthSeconds }) => sum + lengthSeconds, gaps);
    expect(parts).toHaveLength(3);
    return { bytes: new Uint8Array(await whole.arrayBuffer()), seconds };
  }

  it('makes one MP3 from a text of any length', async () => {
    const { bytes, seconds } = await spoken('mp3');
    const played = playedMp3(bytes);
    expect(played.strays).toEqual([]);
    expect(played.seconds).toBeCloseTo(seconds, 0);
    expect(played.shownSeconds).toBeCloseTo(played.seconds, 6);
  });

  it('makes one WAV from it', async () => {
    const { bytes, seconds } = await spoken('wav');
    const played = playedWav(bytes);
    expect(played).toMatchObject({ isWhole: true, saysBytes: bytes.length });
    expect(played.seconds).toBeCloseTo(seconds, 6);
  });
});
