/** The `fetch` of a fake for clients that call another address; they use the fake's clock. */
export function fetchFromAddress(
  { fetch, baseUrl }: { readonly fetch: typeof globalThis.fetch; readonly baseUrl: string },
  address: string,
): typeof globalThis.fetch {
  const own = (url: string, init?: RequestInit) => fetch(url.replace(address, baseUrl), init);
  for (const symbol of Object.getOwnPropertySymbols(fetch)) {
    Object.defineProperty(own, symbol, { value: Reflect.get(fetch, symbol) });
  }
  return own as typeof fetch; // as: clients pass the address as text
}
