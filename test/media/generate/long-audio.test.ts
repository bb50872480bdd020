import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { splitText } from '../../../src/media/generate/split-text.js';
import {
  audioEndpoint,
  ending,
  fakeService,
  inTime,
  speech,
  useFakeTime,
} from '../../support/media/fake-time.js';

useFakeTime();

const sentence = (number: number) => `Sentence ${number} has ${'word '.repeat(30)}and ends.`;
const longText = (sentences: number) =>
  Array.from({ length: sentences }, (_, number) => sentence(number)).join(' ');

describe('longAudio', () => {
  it('hands in a text in parts, in order, cut at the ends of sentences', async () => {
    const { fake, media } = fakeService();
    const content = longText(200);
    const request = speech({ content, playbackRate: 1.5, format: 'wav' });
    const jobs = await inTime(media().generate.longAudio(request));
    expect(content.length).toBeGreaterThan(30_000);
    expect(jobs.map(({ fileId }) => fileId)).toEqual(fake.files.map(({ fileId }) => fileId));
    const parts = fake.files.map(({ settings }) => String(settings['content']));
    expect(parts.join(' ')).toBe(content);
    for (const part of parts) {
      expect(part.length).toBeLessThanOrEqual(10_000);
      expect(part).toMatch(/ends\.$/);
    }
    expect(fake.files[0]!.settings).toMatchObject({ playbackRate: 1.5, format: 'wav' });
  });

  it('hands in a short text as it is', async () => {
    const { fake, media } = fakeService();
    expect(await inTime(media().generate.longAudio(speech()))).toHaveLength(1);
    expect(fake.files[0]!.settings['content']).toBe('Good morning!');
  });

  it('keeps to ten calls in ten minutes and twenty pending jobs', async () => {
    const { fake, media } = fakeService({ durations: () => '25m' });
    const jobs = await inTime(media().generate.longAudio(speech({ content: longText(1500) })));
    expect(jobs.length).toBeGreaterThan(22);
    expect(fake.requests.every(({ status }) => status === 200)).toBe(true);
  });

  it('has the jobs that were handed in with its error', async () => {
    const { fake, media } = fakeService();
    fake.fail(audioEndpoint, { status: 500, after: 2 });
    const call = media().generate.longAudio(speech({ content: longText(200) }));
    const { error } = await inTime(ending(call));
    expect(error).toMatchObject({ name: 'ServerError', outcome: 'unknown' });
    const { jobs } = error as { jobs: { fileId: string }[] };
    expect(jobs.map(({ fileId }) => fileId)).toEqual(fake.files.map(({ fileId }) => fileId));
    expect(jobs).toHaveLength(2);
  });

  it.each(['', 42, undefined])('refuses the text %j before the network', async (content) => {
    const { fake, media } = fakeService();
    const call = media().generate.longAudio(speech({ content: content as string }));
    const { error } = await inTime(ending(call));
    expect(error).toMatchObject({ name: 'InvalidRequestError', outcome: 'not-sent' });
    expect(fake.requests).toEqual([]);
  });

  it('hears an abort between two parts', async () => {
    const { media } = fakeService();
    const controller = new AbortController();
    const client = media();
    client.once('response', () => controller.abort('enough'));
    const request = speech({ content: longText(200) });
    const { error } = await inTime(
      ending(client.generate.longAudio(request, { signal: controller.signal })),
    );
    expect(error).toBe('enough');
  });
});

describe('the split of a text', () => {
  const texts = fc.array(
    fc.oneof(
      fc.constantFrom('.', '. ', '! ', '? ', '\n', ' ', '。', '！', '…”', '. '),
      fc.string({ unit: 'grapheme', maxLength: 30 }),
      fc.constantFrom('word', 'a', '1.5', 'Mr. ', '👩‍🚀', '日本語の文'),
    ),
    { maxLength: 60 },
  );

  it('loses nothing but white space between parts, and keeps the order', () => {
    fc.assert(
      fc.property(texts, fc.integer({ min: 2, max: 80 }), (words, most) => {
        const text = words.join('');
        const parts = splitText(text, most);
        expect(parts.join('').replace(/\s/g, '')).toBe(text.replace(/\s/g, ''));
        for (const part of parts) {
          expect(part.length).toBeLessThanOrEqual(most);
          expect(part.trim()).toBe(part);
          expect(part).not.toBe('');
        }
      }),
      { numRuns: 500 },
    );
  });

  it('never cuts a character in two', () => {
    fc.assert(
      fc.property(texts, fc.integer({ min: 2, max: 40 }), (words, most) => {
        for (const part of splitText(words.join(''), most)) {
          expect(() => encodeURIComponent(part)).not.toThrow(); // it throws at half a character
        }
      }),
    );
  });

  it.each([
    ['One. Two. Three.', 11, ['One. Two.', 'Three.']],
    ['He said “Go!” Then he went.', 14, ['He said “Go!”', 'Then he went.']],
    ['No end in sight here', 9, ['No end in', 'sight', 'here']],
    ['abcdefghij', 4, ['abcd', 'efgh', 'ij']],
    ['一二三。四五六。七八九。', 8, ['一二三。四五六。', '七八九。']],
    ['A line\nand another', 12, ['A line', 'and another']],
    ['Costs 1.50 euro. Fine.', 17, ['Costs 1.50 euro.', 'Fine.']],
  ])('of %j at %i', (text, most, parts) => {
    expect(splitText(text, most)).toEqual(parts);
  });
});
