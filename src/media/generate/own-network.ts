// Host names that no public server has. `.fake` is the domain of the in-memory fake.
const names = /^(?:[^.]+|.+\.(?:localhost|local|internal|lan|test|fake))$/;
const addresses = [
  /^(?:0|10|127)\./,
  /^192\.168\./,
  /^169\.254\./,
  /^172\.(?:1[6-9]|2\d|3[01])\./,
  /^\[(?:::1?|::ffff:7f.*|f[cd].*|fe[89ab].*)\]$/,
];

/** Is a URL reachable only from its machine or its private network? */
export function isInOwnNetwork(address: string): boolean {
  const { hostname } = new URL(address);
  const isNumber = /^[\d.]+$/.test(hostname) || hostname.startsWith('[');
  return isNumber ? addresses.some((form) => form.test(hostname)) : names.test(hostname);
}
