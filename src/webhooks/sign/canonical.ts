/** The names of the query parameters that a signature adds. */
export const parameters = {
  nonce: 'postreel_nonce',
  expires: 'postreel_expires',
  signature: 'postreel_signature',
} as const;

const ours: ReadonlySet<string> = new Set(Object.values(parameters));

/** Is this query parameter part of the signature? */
export function isOurs(name: string): boolean {
  return ours.has(name);
}

/**
 * What is signed: path, query, nonce and expiry. Scheme and host are not in it, since a proxy that
 * ends TLS changes both; nor is the way in which characters are escaped, which many rewrite.
 */
export function canonicalText(url: URL, nonce: string, expires: string): string {
  return ['postreel-webhook-1', pathOf(url), queryOf(url), nonce, expires].join('\n');
}

function pathOf({ pathname }: URL): string {
  return pathname.split('/').map(sameEscapes).join('/');
}

function sameEscapes(segment: string): string {
  try {
    return encodeURIComponent(decodeURIComponent(segment));
  } catch {
    return segment; // a lone per cent sign: nothing else comes out like it
  }
}

function queryOf({ searchParams }: URL): string {
  const others = new URLSearchParams([...searchParams].filter(([name]) => !isOurs(name)));
  others.sort();
  return others.toString();
}
