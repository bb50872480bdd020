import type { OptionKind } from '../../core/options.js';

/** The form of ids on the wire. */
export type IdStyle = 'text' | 'uuid';

/**
 * The ids that a world has issued: the world stores each as text, and callers see it in the form of the
 * style.
 */
export class Ids {
  readonly #issued: string[] = [];
  readonly #places = new Map<string, number>();

  /** Records a new id. */
  issue(id: string): string {
    this.#places.set(id, this.#issued.push(id));
    return id;
  }

  /** The form of an id that callers see; returns any other text unchanged. */
  toWire(text: string, style: IdStyle): string {
    const place = this.#places.get(text);
    return place === undefined || style === 'text' ? text : uuidOf(place);
  }

  /** The id that a caller refers to; returns any other value unchanged. */
  fromWire(value: unknown, style: IdStyle): unknown {
    const isId = style === 'uuid' && typeof value === 'string';
    return isId ? (this.#issued[placeOf(value) - 1] ?? value) : value;
  }
}

function uuidOf(place: number): string {
  return `5eed0000-0000-4000-8000-${place.toString(16).padStart(12, '0')}`;
}

function placeOf(text: string): number {
  return /^5eed0000-/.test(text) ? Number.parseInt(text.slice(-12), 16) : Number.NaN;
}

/** The address of a fake, such as `https://messaging.fake`. */
export const address: OptionKind<string> = {
  form: 'an absolute address, such as https://service.fake',
  allows: (value) => typeof value === 'string' && URL.canParse(value),
};

/** A random id that distinguishes the addresses and keys of fakes, also across copies of this package. */
export function fakeId(): string {
  const [number = 0] = crypto.getRandomValues(new Uint32Array(1));
  return number.toString(36).padStart(7, '0');
}
