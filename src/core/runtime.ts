/** The runtime: a browser or not, its environment variables, and whether its requests are isolated. */

/** Is this a page or a worker of a browser? Node, Bun, Deno and edge workers are not. */
export function isBrowser(): boolean {
  const scope = globalThis as {
    window?: { document?: unknown };
    importScripts?: unknown;
    WorkerGlobalScope?: unknown;
    WebSocketPair?: unknown;
    Deno?: unknown;
    process?: { versions?: { node?: string } };
  };
  if (typeof scope.window?.document !== 'undefined') {
    return true;
  }
  const isWorker = typeof scope.WorkerGlobalScope === 'function' && 'importScripts' in scope;
  return isWorker && !scope.WebSocketPair && !scope.Deno && !scope.process?.versions?.node;
}

/**
 * Does every request have a separate I/O context, as in Cloudflare Workers and Vercel's edge? There a timer
 * or a response of one request must never resume another request, which would hang.
 */
export function hasIoContexts(): boolean {
  return 'WebSocketPair' in globalThis || 'EdgeRuntime' in globalThis;
}

/**
 * Reads an environment variable. Returns `undefined` if it is empty, or if the runtime has none or denies
 * access.
 */
export function readEnvironment(name: string): string | undefined {
  const { process, Deno } = globalThis as {
    process?: { env?: Record<string, string | undefined> };
    Deno?: { permissions?: { querySync?: (what: object) => { state: string } } };
  };
  try {
    // Without this query, Deno would ask the person at the terminal for permission.
    const permission = Deno?.permissions?.querySync?.({ name: 'env', variable: name });
    const value = (permission?.state ?? 'granted') === 'granted' ? process?.env?.[name] : undefined;
    return value === '' ? undefined : value;
  } catch {
    return undefined;
  }
}
