import { signatureParameter } from '../../core/types.js';

/** The names of the query parameters that a signature adds. */
export const parameters = {
  /** The parameter with the names of the signed query parameters. Omitted if there are none. */
  signed: 'postreel_signed',
  nonce: 'postreel_nonce',
  expires: 'postreel_expires',
  signature: signatureParameter,
} as const;

const signatureParameters: ReadonlySet<string> = new Set(Object.values(parameters));

/** The values that a signature covers in addition to the address. */
export interface SignedFacts {
  readonly nonce: string;
  readonly expires: string;
  /** The names of the signed parameters, as `namesToSign()` gives them. */
  readonly signed: string;
}

/** True if this query parameter belongs to the signature. */
export function isSignatureParameter(name: string): boolean {
  return signatureParameters.has(name);
}

/** The names of the address's other query parameters, as a list that fits into a query. */
export function namesToSign({ searchParams }: URL): string {
  const names = new Set([...searchParams.keys()].filter((name) => !isSignatureParameter(name)));
  return [...names].sort().map(encodeURIComponent).join(',');
}

/**
 * The text that is signed: path, signed parameters, nonce and expiry. It omits the parts that may change in
 * transit without harm: scheme and host (a proxy that terminates TLS changes both), the escaping of
 * characters, and parameters that a gateway adds.
 */
export function canonicalTextOf(url: URL, { signed, nonce, expires }: SignedFacts): string {
  return ['postreel-webhook-2', pathOf(url), queryOf(url, signed), signed, nonce, expires].join(
    '\n',
  );
}

function pathOf({ pathname }: URL): string {
  return pathname.split('/').map(normalizeEscapes).join('/');
}

function normalizeEscapes(segment: string): string {
  try {
    return encodeURIComponent(decodeURIComponent(segment));
  } catch {
    return segment; // a percent sign that is not an escape: no other text gives the same result
  }
}

// Include all values of a signed name: an added second value is a forgery.
function queryOf({ searchParams }: URL, signed: string): string {
  const names = new Set(signed.split(','));
  const own = [...searchParams].filter(
    ([name]) => !isSignatureParameter(name) && names.has(encodeURIComponent(name)),
  );
  const query = new URLSearchParams(own);
  query.sort();
  return query.toString();
}
