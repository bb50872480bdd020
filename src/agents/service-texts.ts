type Fetch = typeof globalThis.fetch;

const maxTexts = 50_000;
/** A shorter text may be equal by accident. */
const shortestText = 12;
/**
 * An address or a link, in lower case. The lookbehind lets an address begin only where a word begins: without
 * it, a long word without an `@` takes seconds.
 */
const addressOrLink =
  /https?:\/\/[^\s"<>()]+|(?<![^\s"<>():;,])[^\s"<>():;,]+@[^\s"<>():;,]*[^\s"<>():;,.]/g;
/** The fields in which a service returns the address of a contact or of one of its senders. */
const contactAddress = /(^|\.)(email|from|replyTo)$/;
/** Custom fields. The items of a list are below `data` as well, with an index. */
const customField = /(^|\.)data\.(?!\d+\.)/;

/**
 * Remembers the texts that services have returned, with the addresses and links in them, so that a plan can
 * tell a person which of its values came from a service. Ids and the addresses of contacts do not count. A
 * text that the agent reworded or cut is not recognized.
 */
export class ServiceTexts {
  readonly #texts = new Set<string>();

  /** Wraps `fetch` so that every text in a response of a service is remembered, also in failed ones. */
  watch(fetch: Fetch): Fetch {
    return async (input, init) => {
      const response = await fetch(input, init);
      if (/json|text|^$/i.test(response.headers.get('content-type') ?? '')) {
        // The call itself reports a response that breaks off.
        const text = await response
          .clone()
          .text()
          .catch(() => '');
        this.#remember(parseJson(text));
      }
      return response;
    };
  }

  #remember(value: unknown): void {
    for (const { path, text } of textsOf(value)) {
      if (!contactAddress.test(path) || customField.test(path)) {
        tracesOf(text).forEach((trace) => this.#keep(trace));
      }
    }
  }

  #keep(trace: string): void {
    if (this.#texts.size >= maxTexts) {
      const [oldest] = this.#texts;
      this.#texts.delete(oldest ?? '');
    }
    this.#texts.add(trace);
  }

  /** The paths in an input of a whole text from a service, or of an address or a link from such a text. */
  tracesIn(input: unknown): string[] {
    return textsOf(input)
      .filter(({ text }) => tracesOf(text).some((trace) => this.#texts.has(trace)))
      .map(({ path }) => path);
  }
}

/**
 * The strings by which a text is recognized: the text itself if it is long enough and not an id, and its
 * addresses and links.
 */
function tracesOf(text: string): string[] {
  const plain = normalizeText(text);
  const isText = plain.length >= shortestText && !/^[\w-]+$/.test(plain);
  return [...(isText ? [plain] : []), ...(plain.match(addressOrLink) ?? [])];
}

interface PlacedText {
  /** `payload.0.prompt` */
  readonly path: string;
  readonly text: string;
}

function textsOf(value: unknown, path = ''): PlacedText[] {
  if (typeof value === 'string') {
    return [{ path, text: value }];
  }
  if (typeof value !== 'object' || value === null) {
    return [];
  }
  return Object.entries(value).flatMap(([name, part]) =>
    textsOf(part, path === '' ? name : `${path}.${name}`),
  );
}

/**
 * Normalizes a text so that visually equal texts are equal: case, spaces, character width and invisible
 * characters do not count.
 */
function normalizeText(text: string): string {
  return text
    .normalize('NFKC')
    .replace(/[\p{Cf}\p{Default_Ignorable_Code_Point}]/gu, '')
    .replace(/[\s\p{Cc}]+/gu, ' ')
    .trim()
    .toLowerCase();
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}
