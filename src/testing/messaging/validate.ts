import { isRecord } from '../../core/values.js';
import { Refusal, type FieldError } from '../core/http.js';
import type { FakeRequest } from '../core/types.js';

/** Reads the fields of a JSON body; everything that is wrong ends in one 422 VALIDATION_ERROR. */
export function readBody<Value>(request: FakeRequest, read: (fields: BodyFields) => Value): Value {
  const body = request.body ?? {};
  // messaging, Errors: 400 for a malformed body.
  if (!isRecord(body)) {
    throw new Refusal(400, 'BAD_REQUEST', 'The body must be a JSON object.');
  }
  const fields = new BodyFields(body);
  const value = read(fields);
  if (fields.errors.length > 0) {
    throw invalid(fields.errors);
  }
  return value;
}

/** The refusal of one field. */
export function invalidField(field: string, message: string, code = 'invalid_value'): Refusal {
  return invalid([{ field, message, code }]);
}

/** messaging, Errors: 422 with `VALIDATION_ERROR` and the `errors` array. */
export function invalid(errors: FieldError[]): Refusal {
  // Each error names its field beside its message.
  const told = errors.map(({ field, message, ...rest }) => ({
    field,
    message: message.replace(`\`${field}\` `, ''),
    ...rest,
  }));
  return new Refusal(422, 'VALIDATION_ERROR', 'Validation failed.', {
    errors: told,
    suggestion: 'Correct the fields listed in `errors` and send the request again.',
  });
}

/** Email format as a service checks it: one @, no blanks, a domain with a dot. */
export function isEmail(value: unknown): value is string {
  return (
    typeof value === 'string' &&
    value.length <= 254 &&
    /^[^\s@<>(),;:"[\]\\]+@[^\s@.]+(\.[^\s@.]+)+$/.test(value)
  );
}

/** Drops keys that are undefined, so that the rest can stand in optional properties. */
export function given<Values extends Record<string, unknown>>(
  values: Values,
): { [Key in keyof Values]?: Exclude<Values[Key], undefined> } {
  const kept = Object.entries(values).filter(([, value]) => value !== undefined);
  // Entries lose the types of their keys.
  return Object.fromEntries(kept) as { [Key in keyof Values]?: Exclude<Values[Key], undefined> };
}

/** Reads one field after the other and collects what is wrong; a bad required text reads as ''. */
export class BodyFields {
  readonly errors: FieldError[] = [];
  readonly #body: Record<string, unknown>;

  constructor(body: Record<string, unknown>) {
    this.#body = body;
  }

  /** The value as it came. */
  raw(name: string): unknown {
    return this.#body[name];
  }

  has(name: string): boolean {
    return this.#body[name] !== undefined;
  }

  add(field: string, message: string, code = 'invalid_value'): void {
    // An empty subject is found by two checks, and reported once.
    if (!this.errors.some((error) => error.field === field && error.code === code)) {
      this.errors.push({ field, message, code });
    }
  }

  text(name: string): string | undefined {
    return this.#optional(name, 'a string', (value) => typeof value === 'string');
  }

  /** A text of at least one character. */
  requiredText(name: string): string {
    if (this.#isMissing(name)) {
      return '';
    }
    const text = this.text(name) ?? '';
    if (this.raw(name) === '') {
      this.add(name, `\`${name}\` must not be empty.`, 'too_short');
    }
    return text;
  }

  email(name: string): string | undefined {
    const text = this.text(name);
    if (text === undefined || isEmail(text)) {
      return text;
    }
    this.add(name, `\`${name}\` must be an email address.`, 'invalid_format');
    return undefined;
  }

  requiredEmail(name: string): string {
    return this.#isMissing(name) ? '' : (this.email(name) ?? '');
  }

  boolean(name: string): boolean | undefined {
    return this.#optional(name, 'a boolean', (value) => typeof value === 'boolean');
  }

  record(name: string): Record<string, unknown> | undefined {
    return this.#optional(name, 'an object', isRecord);
  }

  oneOf(name: string, values: readonly string[]): string | undefined {
    const text = this.text(name);
    if (text === undefined || values.includes(text)) {
      return text;
    }
    this.add(name, `\`${name}\` must be one of ${values.join(', ')}.`);
    return undefined;
  }

  requiredOneOf(name: string, values: readonly string[]): string {
    return this.#isMissing(name) ? '' : (this.oneOf(name, values) ?? '');
  }

  /** A required array of strings, at most so many. */
  texts(name: string, max = Infinity): string[] {
    if (this.#isMissing(name)) {
      return [];
    }
    const value = this.raw(name);
    if (!Array.isArray(value) || !value.every((item) => typeof item === 'string')) {
      this.add(name, `\`${name}\` must be an array of strings.`, 'invalid_type');
      return [];
    }
    if (value.length > max) {
      this.add(name, `\`${name}\` takes at most ${max} items.`, 'too_many');
    }
    return value;
  }

  #isMissing(name: string): boolean {
    const isMissing = this.raw(name) === undefined || this.raw(name) === null;
    if (isMissing) {
      this.add(name, `\`${name}\` is required.`, 'required');
    }
    return isMissing;
  }

  #optional<Value>(
    name: string,
    kind: string,
    is: (value: unknown) => value is Value,
  ): Value | undefined {
    const value = this.raw(name);
    if (value === undefined || is(value)) {
      return value;
    }
    this.add(name, `\`${name}\` must be ${kind}.`, 'invalid_type');
    return undefined;
  }
}
