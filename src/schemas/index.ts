import type { ZodMiniType } from 'zod/mini';
import { schemas as mediaSchemas } from '../media/schemas.js';
import { schemas as messagingSchemas } from '../messaging/schemas.js';

/** The `query`, `body` and `returns` of each endpoint of the messaging service, by its method's name. */
export const messaging: EndpointSchemas<typeof messagingSchemas> = messagingSchemas;

/** The `query`, `body` and `returns` of each endpoint of the media service, by its method's name. */
export const media: EndpointSchemas<typeof mediaSchemas> = mediaSchemas;

// A user's declarations refer to these schemas by these names. They also work if the user's code cannot import
// this zod: pnpm installs it below this package, and another version may be installed next to it.
export type { $loose, $ZodTypeInternals } from 'zod/v4/core';
export type {
  ZodMiniArray,
  ZodMiniBoolean,
  ZodMiniCustom,
  ZodMiniEnum,
  ZodMiniInt,
  ZodMiniNullable,
  ZodMiniNumber,
  ZodMiniObject,
  ZodMiniOptional,
  ZodMiniRecord,
  ZodMiniString,
  ZodMiniType,
  ZodMiniUnknown,
} from 'zod/mini';

// Without the internal members of the tables, whose types a user could not name.
type EndpointSchemas<Table> = {
  readonly [
    Name in Exclude<keyof Table, 'known' | 'knownQuery' | 'warnings'>
  ]: Table[Name] extends ZodMiniType ? Table[Name] : EndpointSchemas<Table[Name]>;
};
