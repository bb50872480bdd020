import { invalidRequest } from '../../core/errors.js';

/**
 * Decodes the pieces of a CSV file: UTF-8, or UTF-16 with or without a byte-order mark. Text in another
 * encoding is refused: read as UTF-8 it would change names in silence. Line breaks become `\n`.
 */
export class CsvDecoder {
  #decoder: TextDecoder | undefined;
  /** The first bytes, until there are enough of them to know the encoding. */
  #head = new Uint8Array(0);
  #isStart = true;
  #endsInReturn = false;

  decode(piece: string | Uint8Array): string {
    return this.#plain(typeof piece === 'string' ? piece : this.#text(piece, true));
  }

  /** What is left when the file is over. */
  end(): string {
    const rest = this.#text(new Uint8Array(0), false);
    return this.#plain(rest) + (this.#endsInReturn ? '\n' : '');
  }

  #text(bytes: Uint8Array, stream: boolean): string {
    let given = bytes;
    if (this.#decoder === undefined) {
      this.#head = joined(this.#head, bytes);
      if (stream && this.#head.length < 4) {
        return '';
      }
      given = this.#head;
      this.#decoder = new TextDecoder(encodingOf(given), { fatal: true });
    }
    try {
      return this.#decoder.decode(given, { stream });
    } catch {
      throw notUnicode();
    }
  }

  // A pair of return and line feed may be cut in two.
  #plain(text: string): string {
    if (text === '') {
      return '';
    }
    const whole =
      (this.#endsInReturn ? '\r' : '') + (this.#isStart ? text.replace(/^\uFEFF/, '') : text);
    this.#isStart = false;
    this.#endsInReturn = whole.endsWith('\r');
    const complete = this.#endsInReturn ? whole.slice(0, -1) : whole;
    return complete.includes('\r') ? complete.replace(/\r\n?/g, '\n') : complete;
  }
}

// Without a mark: the zeros of UTF-16 stand where plain letters have their second byte.
function encodingOf([first, second]: Uint8Array): string {
  if ((first === 0xff && second === 0xfe) || (first !== 0 && second === 0)) {
    return 'utf-16le';
  }
  return (first === 0xfe && second === 0xff) || (first === 0 && second !== 0)
    ? 'utf-16be'
    : 'utf-8';
}

function joined(first: Uint8Array, second: Uint8Array): Uint8Array<ArrayBuffer> {
  const both = new Uint8Array(first.length + second.length);
  both.set(first);
  both.set(second, first.length);
  return both;
}

function notUnicode(): Error {
  const message =
    'The file is neither UTF-8 nor UTF-16. Convert it first, e.g. with `iconv -f WINDOWS-1252 -t UTF-8`, or save it as "CSV UTF-8"';
  return invalidRequest([{ field: '', message }]);
}
