import { signatureParameter } from '../../core/types.js';

/** The names of the query parameters that a signature adds. */
export const parameters = {
  /** The names of the parameters that are signed. Left out when there are none. */
  signed: 'postreel_signed',
  nonce: 'postreel_nonce',
  expires: 'postreel_expires',
  signature: signatureParameter,
} as const;

const ours: ReadonlySet<string> = new Set(Object.values(parameters));

/** What a signature covers besides the address itself. */
export interface SignedFacts {
  readonly nonce: string;
  readonly expires: string;
  /** The names of the signed parameters, as `namesIn()` gives them. */
  readonly signed: string;
}

/** Is this query parameter part of the signature? */
export function isOurs(name: string): boolean {
  return ours.has(name);
}

/** The names of an address's own query parameters, as a list that a query can carry. */
export function namesIn({ searchParams }: URL): string {
  const names = new Set([...searchParams.keys()].filter((name) => !isOurs(name)));
  return [...names].sort().map(encodeURIComponent).join(',');
}

/**
 * The text that is signed: path, signed parameters, nonce and expiry. It leaves out what changes on
 * the way without harm: scheme and host (a proxy that ends TLS changes both), the way characters
 * are escaped, and parameters that a gateway adds.
 */
export function canonicalText(url: URL, { signed, nonce, expires }: SignedFacts): string {
  return ['postreel-webhook-2', pathOf(url), queryOf(url, signed), signed, nonce, expires].join(
    '\n',
  );
}

function pathOf({ pathname }: URL): string {
  return pathname.split('/').map(sameEscapes).join('/');
}

function sameEscapes(segment: string): string {
  try {
    return encodeURIComponent(decodeURIComponent(segment));
  } catch {
    return segment; // a percent sign on its own: nothing else comes out like it
  }
}

// All values of a signed name count: a second one that was added would be a forgery.
function queryOf({ searchParams }: URL, signed: string): string {
  const names = new Set(signed.split(','));
  const own = [...searchParams].filter(
    ([name]) => !isOurs(name) && names.has(encodeURIComponent(name)),
  );
  const query = new URLSearchParams(own);
  query.sort();
  return query.toString();
}
