import type { ClientEvents } from '../contract/events.js';
import type { BudgetSource } from './rate-limit/registry.js';
import type { Events } from './events.js';
import type { Keyring } from './auth/keyring.js';
import type { Session } from './auth/session.js';
import type { Settings } from './settings.js';
import type { SchemaMap } from './validation/issues.js';

/** What a transport is made of. */
export interface TransportParts {
  readonly settings: Settings;
  readonly keyring: Keyring;
  readonly session: Session;
  readonly budgets: BudgetSource;
  readonly events: Events<ClientEvents>;
  readonly loadSchemas: () => Promise<SchemaMap>;
}

/** The input of a call, whatever its route's types say. */
export interface RawInput {
  readonly params?: Readonly<Record<string, unknown>> | undefined;
  readonly query?: object | undefined;
  readonly body?: unknown;
  /** Is this a look at something that changes by itself? */
  readonly isPoll?: boolean | undefined;
  /** Does this call count towards the rate limit, whatever its row says? */
  readonly isCharged?: boolean | undefined;
}
