import { isRecord } from './values.js';

/**
 * What a journal keeps of an answer: all that the request did not have. Bodies of mails are long, and
 * addresses are private; a call that is made again has the same ones, so that they can be put back.
 */
export interface KeptAnswer {
  /** The answer without the texts that the request has. */
  readonly data: unknown;
  /** Where those stood: the path in the answer, and which text of the request it was. */
  readonly same: readonly (readonly [path: readonly (string | number)[], text: number])[];
  readonly requestId: string | undefined;
}

export function keptAnswer(
  data: unknown,
  requestId: string | undefined,
  request: unknown,
): KeptAnswer {
  const places = new Map(textsOf(request).map((text, place) => [text, place] as const));
  const same: [(string | number)[], number][] = [];
  const without = (value: unknown, path: (string | number)[]): unknown => {
    if (typeof value === 'string' && value !== '') {
      const text = places.get(value);
      if (text === undefined) {
        return value;
      }
      same.push([path, text]);
      return null;
    }
    return mapped(value, (part, name) => without(part, [...path, name]));
  };
  return { data: without(data, []), same, requestId };
}

/** The answer as it came, for the request to which it was given. The kept one is used up. */
export function answerAgain({ data, same }: KeptAnswer, request: unknown): unknown {
  const texts = textsOf(request);
  const whole: object = { data };
  for (const [path, text] of same) {
    const names = ['data', ...path];
    const last = names.pop() ?? '';
    // as object: the path was taken from this answer
    const owner = names.reduce((part, name) => Reflect.get(part, name) as object, whole);
    Reflect.set(owner, last, texts[text]);
  }
  return Reflect.get(whole, 'data');
}

/**
 * The texts of a request, as they are sent and as services write addresses; their order does not hang on
 * that of its fields.
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

function mapped(value: unknown, map: (part: unknown, name: string | number) => unknown): unknown {
  if (Array.isArray(value)) {
    return value.map((part: unknown, place) => map(part, place));
  }
  return isRecord(value)
    ? Object.fromEntries(Object.entries(value).map(([name, part]) => [name, map(part, name)]))
    : value;
}
