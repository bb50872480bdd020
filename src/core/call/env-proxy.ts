import { readEnvironment } from '../runtime.js';

/**
 * The proxy through which Node sends a request, according to the environment variables. `undefined` if
 * Node's proxy is off, or if `NO_PROXY` names the host. Node prefers the lower-case names, as undici does.
 */
export function envProxyFor(url: URL): URL | undefined {
  const isOn =
    readEnvironment('NODE_USE_ENV_PROXY') === '1' ||
    readEnvironment('NODE_OPTIONS')?.includes('--use-env-proxy') === true;
  if (!isOn || isExcluded(url, readVariable('no_proxy') ?? '')) {
    return undefined;
  }
  const http = readVariable('http_proxy');
  const address = url.protocol === 'https:' ? (readVariable('https_proxy') ?? http) : http;
  try {
    return address === undefined ? undefined : new URL(address);
  } catch {
    return undefined; // Node does not start with such a proxy
  }
}

/** The port of an address, even if it is the default port of the protocol. */
export function portOf({ port, protocol }: URL): number {
  return Number(port) || (protocol === 'https:' ? 443 : 80);
}

function readVariable(name: string): string | undefined {
  return readEnvironment(name) ?? readEnvironment(name.toUpperCase());
}

/** Does an entry such as `example.com`, `.example.com`, `*.example.com:443` or `*` name the host? */
function isExcluded(url: URL, noProxy: string): boolean {
  return noProxy
    .toLowerCase()
    .split(/[\s,]+/)
    .filter((entry) => entry !== '')
    .some((entry) => {
      const [, name = '', port] = /^(.*?)(?::(\d+))?$/.exec(entry) ?? [];
      const domain = name.replace(/^\*?\.?/, '');
      const isHost =
        domain === '' || url.hostname === domain || url.hostname.endsWith(`.${domain}`);
      return isHost && (port === undefined || Number(port) === portOf(url));
    });
}
