import { isRecord } from '../values.js';

/**
 * The part of a response that a journal stores: everything that the request did not contain. Bodies of mails
 * are long, and addresses are private. A repeated call contains the same texts, so they can be inserted
 * again.
 */
export interface KeptAnswer {
  /** The response without the texts that the request contains. */
  readonly data: unknown;
  /**
   * The places of those texts: the path in the response, the index of the text in the request, and its
   * position if it is only a part of a longer text.
   */
  readonly same: readonly (readonly [path: Path, text: number, at?: number])[];
  readonly requestId: string | undefined;
}

type Path = readonly (string | number)[];

export function compactAnswer(
  data: unknown,
  requestId: string | undefined,
  request: unknown,
): KeptAnswer {
  const places = new Map(textsOf(request).map((text, place) => [text, place] as const));
  const addresses = [...places].filter(([text]) => /^\S+@\S+$/.test(text));
  const same: KeptAnswer['same'][number][] = [];
  const without = (value: unknown, path: Path): unknown => {
    if (typeof value !== 'string') {
      return mapParts(value, (part, name) => without(part, [...path, name]));
    }
    const whole = value === '' ? undefined : places.get(value);
    if (whole !== undefined) {
      same.push([path, whole]);
      return null;
    }
    // An address may also be part of a message.
    const [address, place] = addresses.find(([text]) => value.includes(text)) ?? [];
    if (address === undefined || place === undefined) {
      return value;
    }
    const at = value.indexOf(address);
    same.push([path, place, at]);
    return without(value.slice(0, at) + value.slice(at + address.length), path);
  };
  return { data: without(data, []), same, requestId };
}

/**
 * The response in its original form, for the request that it belongs to. Changes the stored answer, which
 * must not be used again.
 */
export function restoreAnswer({ data, same }: KeptAnswer, request: unknown): unknown {
  const texts = textsOf(request);
  const whole: object = { data };
  // The texts are inserted in the reverse order of their removal.
  for (const [path, place, at] of [...same].reverse()) {
    const names = ['data', ...path];
    const last = names.pop() ?? '';
    // as: the path was taken from this answer
    const owner = names.reduce((part, name) => Reflect.get(part, name) as object, whole);
    const text = texts[place] ?? '';
    if (at === undefined) {
      Reflect.set(owner, last, text);
    } else {
      const rest = Reflect.get(owner, last) as string; // as above
      Reflect.set(owner, last, rest.slice(0, at) + text + rest.slice(at));
    }
  }
  return Reflect.get(whole, 'data');
}

/**
 * The texts of a request, as sent and in the form in which services write addresses. Their order does not
 * depend on the order of the fields.
 */
function textsOf(request: unknown): readonly string[] {
  const texts: string[] = [];
  const collect = (value: unknown): void => {
    if (typeof value === 'string') {
      texts.push(value);
    } else if (Array.isArray(value)) {
      value.forEach(collect);
    } else if (isRecord(value)) {
      Object.keys(value)
        .sort()
        .forEach((name) => collect(value[name]));
    }
  };
  collect(request);
  return [...texts, ...texts.map((text) => text.trim().toLowerCase())];
}

function mapParts(value: unknown, map: (part: unknown, name: string | number) => unknown): unknown {
  if (Array.isArray(value)) {
    return value.map((part: unknown, place) => map(part, place));
  }
  return isRecord(value)
    ? Object.fromEntries(Object.entries(value).map(([name, part]) => [name, map(part, name)]))
    : value;
}
