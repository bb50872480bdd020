import { CommandEnd } from '../exit-codes.js';
import type * as Serve from './serve.js';

/** Loads the server with its SDK, a peer that only `postreel mcp` needs. */
export async function loadServe(): Promise<typeof Serve> {
  const sdk = await import('@modelcontextprotocol/sdk/server/mcp.js').catch(ifAbsent);
  // It came with 1.13, and so did asking a person.
  if (sdk === undefined || !('registerResource' in sdk.McpServer.prototype)) {
    throw new CommandEnd(
      'configuration',
      'This command needs @modelcontextprotocol/sdk 1.13 or later: npx -p postreel -p @modelcontextprotocol/sdk postreel mcp',
    );
  }
  return import('./serve.js');
}

/** Nothing, where the package is not there, or is so old that it has no such path. */
function ifAbsent(error: NodeJS.ErrnoException): undefined {
  if (!['ERR_MODULE_NOT_FOUND', 'ERR_PACKAGE_PATH_NOT_EXPORTED'].includes(error.code ?? '')) {
    throw error;
  }
}
