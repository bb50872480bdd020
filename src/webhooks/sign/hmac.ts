const algorithm = { name: 'HMAC', hash: 'SHA-256' };

/** The HMAC-SHA-256 of a text, as 64 hexadecimal digits. */
export async function sign(secret: string, text: string): Promise<string> {
  const key = await importKey(secret, 'sign');
  return toHex(new Uint8Array(await crypto.subtle.sign('HMAC', key, bytesOf(text))));
}

/**
 * True if this is the signature of the text. Web Crypto compares in constant time, as its standard requires.
 */
export async function isSignature(
  signature: string,
  secret: string,
  text: string,
): Promise<boolean> {
  const bytes = fromHex(signature);
  if (bytes === undefined) {
    return false;
  }
  return crypto.subtle.verify('HMAC', await importKey(secret, 'verify'), bytes, bytesOf(text));
}

/** Random bytes, as hexadecimal digits. */
export function randomHex(length: number): string {
  return toHex(crypto.getRandomValues(new Uint8Array(length)));
}

function importKey(secret: string, usage: 'sign' | 'verify') {
  return crypto.subtle.importKey('raw', bytesOf(secret), algorithm, false, [usage]);
}

function bytesOf(text: string) {
  return new TextEncoder().encode(text);
}

function toHex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

// Accepts lower case only, so that a signature has one spelling.
function fromHex(text: string): Uint8Array<ArrayBuffer> | undefined {
  if (!/^[0-9a-f]{64}$/.test(text)) {
    return undefined;
  }
  return Uint8Array.from(text.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
}
