type Fetch = typeof globalThis.fetch;

const maxTexts = 50_000;
/** A shorter text is the same by accident. */
const shortestText = 12;
/** An address or a link, in lower case. */
const target = /https?:\/\/[^\s"<>()]+|[^\s"<>():;,]+@[^\s"<>():;,]*[^\s"<>():;,.]/g;
/** The fields where a service keeps the address of a contact or a sender of its own. */
const ownAddress = /(^|\.)(email|from|replyTo)$/;
/** Custom fields; the items of a list stand below `data` as well. */
const filledIn = /(^|\.)data\.(?!\d+\.)/;

/**
 * Remembers the texts that services have returned, with the addresses and links in them, so that a plan can
 * tell a person which of its values came from there. An id is no such text, nor is the address of a contact.
 * A text that was reworded or cut up on the way is not recognised.
 */
export class ServiceData {
  readonly #texts = new Set<string>();

  /** A `fetch` whose answers are remembered: every text that comes from a service, failures too. */
  watching(fetch: Fetch): Fetch {
    return async (input, init) => {
      const response = await fetch(input, init);
      if (/json|text|^$/i.test(response.headers.get('content-type') ?? '')) {
        // One that breaks off is told by the call itself.
        const text = await response
          .clone()
          .text()
          .catch(() => '');
        this.#remember(parsed(text));
      }
      return response;
    };
  }

  #remember(value: unknown): void {
    for (const { place, text } of textsOf(value)) {
      if (!ownAddress.test(place) || filledIn.test(place)) {
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

  /** The places in an input that hold a whole text of a service, or an address or a link out of one. */
  tracesIn(input: unknown): string[] {
    return textsOf(input)
      .filter(({ text }) => tracesOf(text).some((trace) => this.#texts.has(trace)))
      .map(({ place }) => place);
  }
}

/** By what a text is recognised: itself, where it is long enough and no id, and what it leads to. */
function tracesOf(text: string): string[] {
  const plain = normal(text);
  const isText = plain.length >= shortestText && !/^[\w-]+$/.test(plain);
  return [...(isText ? [plain] : []), ...(plain.match(target) ?? [])];
}

interface Place {
  /** `payload.0.prompt` */
  readonly place: string;
  readonly text: string;
}

function textsOf(value: unknown, place = ''): Place[] {
  if (typeof value === 'string') {
    return [{ place, text: value }];
  }
  if (typeof value !== 'object' || value === null) {
    return [];
  }
  return Object.entries(value).flatMap(([name, part]) =>
    textsOf(part, place === '' ? name : `${place}.${name}`),
  );
}

/** Alike for whoever reads it: neither case, spaces, width nor what is not seen make a difference. */
function normal(text: string): string {
  return text
    .normalize('NFKC')
    .replace(/[\p{Cf}\p{Default_Ignorable_Code_Point}]/gu, '')
    .replace(/[\s\p{Cc}]+/gu, ' ')
    .trim()
    .toLowerCase();
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}
