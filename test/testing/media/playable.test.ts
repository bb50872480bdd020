import { MediaClient, type AudioRequest, type VideoJob } from 'postreel';
import { createFakeMedia, type FakeMediaOptions } from 'postreel/testing';
import { describe, expect, it } from 'vitest';
import { boxesOf, playedMp3, playedWav } from '../../support/media/sound.js';

/** A file of the fake, as a program downloads it. */
async function made(job: AudioRequest | VideoJob, options?: FakeMediaOptions) {
  const fake = createFakeMedia(options);
  const media = new MediaClient(fake.options);
  const sent = 'workflowType' in job ? media.generate.video(job) : media.generate.audio(job);
  const file = await (await sent).waitForFile();
  const blob = await file.blob();
  const bytes = new Uint8Array(await blob.arrayBuffer());
  return { bytes, type: blob.type, lengthSeconds: fake.files[0]!.lengthSeconds };
}

const speech = { content: 'word '.repeat(250), voiceId: 'voice_1' }; // 100 s
const idea = { workflowType: 'idea', prompt: 'Cats', voiceId: 'voice_1', duration: 2 } as const;

describe('what the fake serves can be played', () => {
  it('an MP3 is frames from its first byte to its last, and lasts as long as it says', async () => {
    const { bytes, type, lengthSeconds } = await made(speech);
    expect([type, lengthSeconds]).toEqual(['audio/mpeg', 100]);
    const { strays, seconds, shownSeconds } = playedMp3(bytes);
    expect(strays).toEqual([]);
    expect(seconds).toBeCloseTo(100, 1);
    expect(shownSeconds).toBeCloseTo(100, 1);
  });

  it('a WAV is as long as it says, and quiet', async () => {
    const { bytes, type } = await made({ ...speech, format: 'wav' });
    expect(type).toBe('audio/wav');
    const { isWhole, saysBytes, names, data, seconds } = playedWav(bytes);
    expect([isWhole, saysBytes, names, seconds]).toEqual([
      true,
      bytes.length,
      ['fmt ', 'data'],
      100,
    ]);
    const samples = new Int16Array(data.slice().buffer);
    expect(samples.every((sample) => Math.abs(sample) < 33)).toBe(true);
  });

  it.each([
    ['mp4', 'video/mp4', 'isom'],
    ['mov', 'video/quicktime', 'qt  '],
  ] as const)(
    'an %s has one picture and the time that was asked for',
    async (extension, mime, brand) => {
      const { bytes, type } = await made({ ...idea, extension });
      expect(type).toBe(mime);
      const boxes = boxesOf(bytes);
      expect(new TextDecoder().decode(boxes.get('ftyp')!.slice(0, 4))).toBe(brand);
      const word = (path: string, at: number) => {
        const content = boxes.get(path)!;
        return new DataView(content.buffer, content.byteOffset).getUint32(at);
      };
      const header = 'moov/mvhd';
      expect(word(header, 16) / word(header, 12)).toBe(120); // seconds
      const stored = 'moov/trak/mdia/minf/stbl';
      const [at, length] = [word(`${stored}/stco`, 8), word(`${stored}/stsz`, 4)];
      const picture = bytes.slice(at, at + length);
      expect(picture).toEqual(boxes.get('mdat')!.slice());
      expect([...picture.slice(4, 5)]).toEqual([0x65]); // a picture that needs no other one
      expect([...boxes.keys()]).toContain('free');
    },
  );

  it('differs from file to file', async () => {
    const fake = createFakeMedia();
    const media = new MediaClient(fake.options);
    const [one, other] = await media.generate.video({ payload: [idea, idea] });
    const bytes = async (job = one!) =>
      new Uint8Array(await (await job.waitForFile()).arrayBuffer());
    expect(await bytes()).toEqual(fake.contentOf(one!.fileId));
    expect(await bytes(other)).not.toEqual(await bytes());
  });

  it('has the size that a test asks for', async () => {
    const { bytes } = await made(speech, { fileBytes: 2_400 });
    expect([bytes.length, playedMp3(bytes).frames.length]).toEqual([2_400, 100]);
    const film = await made(idea, { fileBytes: 5_000 });
    expect([film.bytes.length, boxesOf(film.bytes).has('free')]).toEqual([5_000, true]);
  });
});
