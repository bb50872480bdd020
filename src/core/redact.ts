/**
 * What others wrote and an error of ours repeats: the text of an answer, the cause of a lost connection.
 * Texts are cleaned of what the call carried. Of a foreign error only its name, message and code are
 * taken: that is a list of what may pass, so nothing has to be searched for what may not.
 */

const keyShapes = /\b(sk|pk)_[A-Za-z0-9_-]{3,}/g;
// Not the placeholder of a hint: `Authorization: Bearer <key>`.
const bearer = /\bBearer\s+(?![<{[])[^\s"'`,;]+/gi;
// The query of a signed address gives access to a file by itself.
const signedQuery =
  /([?&](?:[\w-]*(?:signature|token|credential|expires|policy|key-pair-id)|sig|se|sp)=)[^&\s"'`<>#]+/gi;

/** What no text of others may repeat: the key of a call, its cookie, the passwords that it sends. */
export type Secrets = readonly (string | null | undefined)[];

/** Takes every secret out of a text that is not ours, such as an error body. */
export function redact(text: string, secrets: Secrets): string {
  let clean = text;
  for (const secret of secrets) {
    // A short secret would take letters out of every word.
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

/** The cause of an error of ours, fit to be printed: names, messages and codes, down the chain. */
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
    return '[unreadable]'; // a proxy may throw whatever is asked of it
  }
}

// A real error of this realm, so that `instanceof Error` and consoles recognise it.
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
  copy.stack = `${copy.name}: ${copy.message}`; // where it was made tells nothing about this call
  for (const [field, value] of Object.entries({ code, syscall })) {
    if (typeof value === 'string' || typeof value === 'number') {
      Object.assign(copy, { [field]: typeof value === 'string' ? text(value) : value });
    }
  }
  return copy;
}
