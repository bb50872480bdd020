import { MediaClient, MediaFile } from 'postreel';
import { describe, expect, it } from 'vitest';
import { joinAudio } from '../../../../src/media/generate/long-audio/join.js';

type Bytes = Uint8Array<ArrayBuffer>;

const text = (value: string): Bytes => new TextEncoder().encode(value);
const join = (...parts: readonly Uint8Array[]): Bytes =>
  new Uint8Array(parts.flatMap((part) => [...part]));
const bytesOf = async (blob: Blob) => [...new Uint8Array(await blob.arrayBuffer())];

/** MPEG 1, layer III, 128 kbit/s, 44.1 kHz: frames of 417 bytes, filled with a number. */
function frame(fill: number, { mode = 0x00, rate = 0x90 } = {}): Bytes {
  const bytes = new Uint8Array(417).fill(fill);
  bytes.set([0xff, 0xfb, rate, mode]);
  return bytes;
}

function info(word: string, at = 36): Bytes {
  const bytes = frame(0);
  bytes.set(text(word), at);
  return bytes;
}

const id3 = join(text('ID3'), new Uint8Array([4, 0, 0, 0, 0, 1, 2]), new Uint8Array(130));
const trailer = join(text('TAG'), new Uint8Array(125));

function wav(sound: readonly number[], { rate = 8_000, size = sound.length } = {}): Bytes {
  const header = new Uint8Array(44);
  const view = new DataView(header.buffer);
  header.set(text('RIFF'), 0);
  view.setUint32(4, 36 + sound.length, true);
  header.set(text('WAVEfmt '), 8);
  view.setUint32(16, 16, true);
  view.setUint16(20, 1, true);
  view.setUint16(22, 1, true);
  view.setUint32(24, rate, true);
  view.setUint16(34, 8, true);
  header.set(text('data'), 36);
  view.setUint32(40, size, true);
  return join(header, new Uint8Array(sound));
}

describe('parts of MP3', () => {
  it('become one file of their frames, in order', async () => {
    const whole = joinAudio([join(frame(1), frame(2)), frame(3)]);
    expect(whole.type).toBe('audio/mpeg');
    expect(await bytesOf(whole)).toEqual([...join(frame(1), frame(2), frame(3))]);
  });

  it('lose their tags: what is true of a part is not true of the whole', async () => {
    const parts = [
      join(id3, info('Xing'), frame(1), trailer),
      join(id3, info('Info'), frame(2)),
      join(info('VBRI'), frame(3), trailer),
    ];
    expect(await bytesOf(joinAudio(parts))).toEqual([...join(frame(1), frame(2), frame(3))]);
  });

  it.each([
    ['of another sample rate', frame(2, { rate: 0x94 })],
    ['in mono', frame(2, { mode: 0xc0 })],
    ['that are no sound', text('<html>gone</html>')],
    ['that are empty', new Uint8Array()],
    ['of WAV', wav([1, 2])],
  ])('cannot be joined with parts %s', (_, other) => {
    expect(() => joinAudio([frame(1), other])).toThrow(
      expect.objectContaining({ name: 'InvalidRequestError', code: 'AUDIO_NOT_JOINABLE' }) as Error,
    );
  });
});

describe('parts of WAV', () => {
  it('become one file under one header', async () => {
    const whole = joinAudio([wav([1, 2]), wav([3, 4, 5, 6])]);
    expect(whole.type).toBe('audio/wav');
    expect(await bytesOf(whole)).toEqual([...wav([1, 2, 3, 4, 5, 6])]);
  });

  it('may have been streamed, without a length', async () => {
    const streamed = wav([1, 2], { size: 0xffff_ffff });
    expect(await bytesOf(joinAudio([streamed, wav([3])]))).toEqual([...wav([1, 2, 3])]);
  });

  it('cannot be joined with those of another sample rate', () => {
    expect(() => joinAudio([wav([1]), wav([2], { rate: 16_000 })])).toThrow('cannot be joined');
  });
});

it('nothing cannot be joined', () => {
  expect(() => joinAudio([])).toThrow('there are none');
});

it('media.joinAudio() downloads the parts in order', async () => {
  const sounds = new Map([
    ['https://cdn.test/1', frame(1)],
    ['https://cdn.test/2', frame(2)],
  ]);
  const fetch: typeof globalThis.fetch = (url) =>
    Promise.resolve(new Response(sounds.get(url as string)));
  const files = [...sounds.keys()].map((url) => new MediaFile(url, url, { fetch }));
  const media = new MediaClient({ apiKey: 'key', baseUrl: 'https://media.test' });
  const whole = await media.joinAudio(files);
  expect(await bytesOf(whole)).toEqual([...join(frame(1), frame(2))]);
});
