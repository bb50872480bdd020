import { mapSchemas } from '../core/call/route.js';
import { Connection } from '../core/client.js';
import {
  clientOptions,
  rateLimitOf,
  rateLimitOptions,
  text,
  wholeNumber,
  type OptionKinds,
} from '../core/options.js';
import type { ServiceFacts } from '../core/settings.js';
import type { MediaEvents } from './events.js';
import { isMediaCall } from './jobs/ledger.js';
import { limits } from './limits.js';
import type { MediaOptions, MediaRateLimitOptions } from './options.js';
import { routes } from './routes.js';

const mediaOptions: OptionKinds<MediaOptions> = {
  ...clientOptions,
  rateLimit: rateLimitOf<MediaRateLimitOptions>({ ...rateLimitOptions, pending: wholeNumber(1) }),
  appUrl: text,
};

const service: ServiceFacts<MediaOptions> = {
  name: 'media',
  environment: { apiKey: 'MEDIA_API_KEY', baseUrl: 'MEDIA_BASE_URL' },
  keyPrefixes: undefined,
  ...limits.requests,
  alwaysJson: true,
  keepMs: Number.POSITIVE_INFINITY, // a forgotten key costs money
  hasCall: isMediaCall,
  options: mediaOptions,
};

/** The connection of a media client to its service. */
export type MediaConnection = Connection<MediaEvents, MediaOptions>;

/** Opens the connection of a media client. */
export function openConnection(options: MediaOptions): MediaConnection {
  return new Connection(service, options, loadSchemas);
}

async function loadSchemas() {
  const { schemas } = await import('./schemas.js');
  return mapSchemas(routes, schemas);
}
