import * as z from 'zod/mini';
import type { SchemasFor } from '../core/call/route.js';
import { email, open } from './shared/values.schemas.js';
import type { routes } from './auth.js';

const text = z.optional(z.string());
const account = z.looseObject({ email: z.optional(email) });
const credentials = z.extend(account, { password: text });

export const schemas = {
  login: { body: credentials, returns: open },
  signup: { body: credentials, returns: open },
  logout: { returns: open },
  oauthConfig: { returns: open },
  verifyEmail: { body: z.looseObject({ token: text }), returns: open },
  requestVerification: { body: account, returns: open },
  requestPasswordReset: { body: account, returns: open },
  resetPassword: {
    body: z.looseObject({ token: text, password: text }),
    returns: open,
  },
} satisfies SchemasFor<typeof routes>;
