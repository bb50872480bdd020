import type { ZodMiniType } from 'zod/mini';
import { schemas as mediaSchemas } from '../media/schemas.js';
import { schemas as messagingSchemas } from '../messaging/schemas.js';

/** The `query`, `body` and `returns` of each endpoint of the messaging service, by its method's name. */
export const messaging: EndpointSchemas<typeof messagingSchemas> = messagingSchemas;

/** The `query`, `body` and `returns` of each endpoint of the media service, by its method's name. */
export const media: EndpointSchemas<typeof mediaSchemas> = mediaSchemas;

// The names by which declarations of a user spell these schemas, also where zod is out of his reach: below
// this package, as pnpm has it, or beside another version.
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

// What stands beside them is the client's own, of types that a user could not name.
type EndpointSchemas<Table> = {
  readonly [
    Name in Exclude<keyof Table, 'known' | 'knownQuery' | 'warnings'>
  ]: Table[Name] extends ZodMiniType ? Table[Name] : EndpointSchemas<Table[Name]>;
};
