import { of, route } from '../../core/route.js';
import type { ServiceConfig } from './types.js';

export const routes = {
  get: route('GET /config', {
    returns: of<ServiceConfig>(),
    key: 'none', // "public, no authentication"
  }),
};
