import { afterEach, describe, expect, it, vi } from 'vitest';
import { splitText } from '../../../../src/media/generate/long-audio/split-text.js';
import fc, { runs } from '../../../support/property.js';

afterEach(() => void vi.unstubAllGlobals());

const split = (text: string, most: number) => splitText(text, most).map((part) => part.text);

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
        const parts = split(text, most);
        expect(parts.join('').replace(/\s/g, '')).toBe(text.replace(/\s/g, ''));
        for (const part of parts) {
          expect(part.length).toBeLessThanOrEqual(most);
          expect(part.trim()).toBe(part);
          expect(part).not.toBe('');
        }
      }),
      { numRuns: runs(150) },
    );
  });

  it('never cuts a character in two', () => {
    fc.assert(
      fc.property(texts, fc.integer({ min: 2, max: 40 }), (words, most) => {
        for (const part of split(words.join(''), most)) {
          expect(() => encodeURIComponent(part)).not.toThrow(); // it throws at half a character
        }
      }),
    );
  });

  it.each(['e\u0301', 'a\u0301\u0302', '👩‍👩‍👧', 'क्षि'])(
    'never splits %s, wherever the limit falls',
    (unit) => {
      const text = `x${unit.repeat(200)}`;
      for (let most = 90; most < 110; most++) {
        const [first, ...rest] = split(text, most);
        expect(first?.slice(1).replaceAll(unit, '')).toBe('');
        expect(rest.map((part) => part.replaceAll(unit, ''))).toEqual(rest.map(() => ''));
      }
    },
  );

  it.each([
    ['One. Two. Three.', 11, ['One. Two.', 'Three.']],
    ['He said “Go!” Then he went.', 14, ['He said “Go!”', 'Then he went.']],
    ['No end in sight here', 9, ['No end in', 'sight', 'here']],
    ['abcdefghij', 4, ['abcd', 'efgh', 'ij']],
    ['一二三。四五六。七八九。', 8, ['一二三。四五六。', '七八九。']],
    ['A line\nand another', 12, ['A line', 'and another']],
    ['Costs 1.50 euro. Fine.', 17, ['Costs 1.50 euro.', 'Fine.']],
    ['I saw it. Then Mr. Smith left.', 20, ['I saw it.', 'Then Mr. Smith left.']],
    ['I saw it. Then J. K. left.', 17, ['I saw it.', 'Then J. K. left.']],
    ['Wir kamen an. Am 3. Oktober war es.', 22, ['Wir kamen an.', 'Am 3. Oktober war es.']],
    ['“Go!” he said. He left.', 15, ['“Go!” he said.', 'He left.']],
    ['So it went… Then it ended.', 14, ['So it went…', 'Then it ended.']],
    ['هل أنت هنا؟ نعم أنا هنا.', 14, ['هل أنت هنا؟', 'نعم أنا هنا.']],
    ['क्या आप यहाँ हैं? हाँ।', 20, ['क्या आप यहाँ हैं?', 'हाँ।']],
    ['A sentence that\nis wrapped. One more.', 30, ['A sentence that\nis wrapped.', 'One more.']],
    ['No full stop\r\n\r\nNext paragraph', 20, ['No full stop', 'Next paragraph']],
    ['👩‍🚀👩‍🚀👩‍🚀', 12, ['👩‍🚀👩‍🚀', '👩‍🚀']],
    ['👍🏽👍🏽', 5, ['👍🏽', '👍🏽']],
    ['🇩🇪🇫🇷', 5, ['🇩🇪', '🇫🇷']],
  ])('of %j at %i', (text, most, parts) => {
    expect(split(text, most)).toEqual(parts);
  });
});

describe('a book', () => {
  const names = [
    'Mr. Bennet',
    'Mrs. Long',
    'Dr. No',
    'J. K. Low',
    'St. Ives',
    'Ann',
    'the U.S. envoy',
  ];
  const ends = ['.', '!', '?', '…', '.”', '?”'];
  const words =
    'the old house stood by a wide river near 3.5 miles from town, e.g. in spring'.split(' ');
  const sentenceOf = fc
    .tuple(
      fc.constantFrom(...names),
      fc.array(fc.constantFrom(...words), { minLength: 3, maxLength: 60 }),
      fc.constantFrom(...ends),
    )
    .map(
      ([name, rest, end]) =>
        `${end.endsWith('”') ? '“' : ''}Then ${name} ${rest.join(' ')} hill${end}`,
    );
  const paragraphs = (least: number, most: number) =>
    fc.array(fc.array(sentenceOf, { minLength: 1, maxLength: 12 }), {
      minLength: least,
      maxLength: most,
    });

  /** Breaks lines like a typesetter, anywhere between words. */
  function wrapped(text: string, width: number, lineBreak: string): string {
    let column = 0;
    return text.replace(/(\S+) ?/g, (_, word: string) => {
      column += word.length + 1;
      if (column <= width) {
        return `${word} `;
      }
      column = 0;
      return `${word}${lineBreak}`;
    });
  }

  function expectWhole(sentences: readonly string[], text: string, most: number): void {
    const parts = splitText(text, most);
    const flat = parts.map((part) => part.text.replace(/\s+/g, ' '));
    for (const [index, { start, end }] of parts.entries()) {
      expect(text.slice(start, end)).toBe(parts[index]!.text);
      expect(start).toBeGreaterThanOrEqual(parts[index - 1]?.end ?? 0);
    }
    // Each is found in the part where the last one was, or in one behind it.
    let from = 0;
    for (const sentence of sentences.filter(({ length }) => length <= most)) {
      const at = flat.findIndex((part, index) => index >= from && part.includes(sentence));
      expect(at, sentence).toBeGreaterThanOrEqual(0);
      from = at;
    }
  }

  it('with hard line breaks has no sentence cut that would fit', () => {
    const breaks = fc.constantFrom('\n', '\r\n', '\n   ');
    fc.assert(
      fc.property(
        paragraphs(1, 6),
        fc.integer({ min: 400, max: 1_500 }),
        fc.integer({ min: 20, max: 90 }),
        breaks,
        (book, most, width, lineBreak) => {
          const text = book
            .map((sentences) => wrapped(sentences.join(' '), width, lineBreak))
            .join('\n\n');
          expectWhole(book.flat(), text, most);
        },
      ),
    );
  });

  it('of 300 000 characters has no sentence cut that would fit, in linear time', () => {
    const [book = []] = fc.sample(paragraphs(700, 720), { numRuns: 1, seed: 7 });
    const text = book.map((sentences) => wrapped(sentences.join(' '), 72, '\n')).join('\n\n');
    expect(text.length).toBeGreaterThan(300_000);
    const at = performance.now();
    const parts = splitText(text, 10_000);
    expect(performance.now() - at).toBeLessThan(20_000);
    expect(parts.length).toBeLessThan(text.length / 9_000 + 1);
    expectWhole(book.flat(), text, 10_000);
  });

  it('without any end of a sentence is cut between words, in linear time', () => {
    const text = 'word '.repeat(60_000).trim();
    const at = performance.now();
    const parts = splitText(text, 10_000);
    expect(performance.now() - at).toBeLessThan(20_000);
    expect(parts.every((part) => part.text.length === 9_999)).toBe(true);
  });

  it('is cut at the ends of sentences in a runtime without a segmenter', () => {
    vi.stubGlobal('Intl', { ...Intl, Segmenter: undefined });
    expect(split('One is here. Two is\nhere. 一二三。四五六。', 28)).toEqual([
      'One is here. Two is\nhere.',
      '一二三。四五六。',
    ]);
    expect(split('👩‍🚀👩‍🚀👩‍🚀', 12)).toEqual(['👩‍🚀👩‍🚀', '👩‍🚀']);
  });
});
