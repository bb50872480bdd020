/**
 * Cleans foreign texts that an error of this package repeats: the text of a response, the cause of a lost
 * connection. The secrets of the call are removed from texts. Of a foreign error only the name, message,
 * code and system call are copied: an allowlist cannot overlook a field with a secret.
 */

const keyShapes = /\b(sk|pk)_[A-Za-z0-9_-]{3,}/g;
// Does not match the placeholder of a hint: `Authorization: Bearer <key>`.
const bearer = /\bBearer\s+(?![<{[])[^\s"'`,;]+/gi;
// The query of a signed address is enough to access a file.
const signedQuery =
  /([?&](?:[\w-]*(?:signature|token|credential|expires|policy|key-pair-id)|sig|se|sp)=)[^&\s"'`<>#]+/gi;

/** The secrets that no foreign text may repeat: the key of a call, its cookie, the passwords in its body. */
export type Secrets = readonly (string | null | undefined)[];

/** Removes every secret from a foreign text, such as an error body. */
export function redact(text: string, secrets: Secrets): string {
  let clean = text;
  for (const secret of secrets) {
    // Removing a short secret would remove letters from ordinary words.
    if (typeof secret === 'string' && secret.length >= 4) {
      clean = clean.replaceAll(secret, '[key]').replaceAll(encodeURIComponent(secret), '[key]');
    }
  }
  return clean
    .replace(bearer, 'Bearer [key]')
    .replace(keyShapes, '$1_[key]')
    .replace(signedQuery, '$1[key]');
}

const maxCauses = 5;
const maxText = 2_000;

/** A printable copy of an error's cause: names, messages and codes of the whole chain. */
export function cleanCause(fault: unknown, secrets: Secrets, depth = 0): unknown {
  if (depth >= maxCauses) {
    return undefined;
  }
  if (typeof fault === 'string') {
    return redact(fault.slice(0, maxText), secrets);
  }
  if (typeof fault !== 'object' || fault === null) {
    return typeof fault === 'function' || typeof fault === 'symbol' ? `[${typeof fault}]` : fault;
  }
  try {
    return copyOf(fault, secrets, depth);
  } catch {
    return '[unreadable]'; // a proxy may throw at every access
  }
}

// A real error of this realm, so that `instanceof Error` and consoles recognize it.
function copyOf(fault: object, secrets: Secrets, depth: number): unknown {
  const { name, message, code, syscall, cause, errors } = fault as Record<string, unknown>; // foreign
  if (typeof message !== 'string') {
    return '[object]';
  }
  const text = (value: unknown) => redact(String(value).slice(0, maxText), secrets);
  const inner = cause ?? (Array.isArray(errors) ? (errors as unknown[])[0] : undefined);
  const copy = new Error(text(message), {
    ...(inner !== undefined && { cause: cleanCause(inner, secrets, depth + 1) }),
  });
  copy.name = typeof name === 'string' ? text(name) : 'Error';
  copy.stack = `${copy.name}: ${copy.message}`; // the original stack does not concern this call
  for (const [field, value] of Object.entries({ code, syscall })) {
    if (typeof value === 'string' || typeof value === 'number') {
      Object.assign(copy, { [field]: typeof value === 'string' ? text(value) : value });
    }
  }
  return copy;
}
