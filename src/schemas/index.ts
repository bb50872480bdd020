import type { ZodMiniType } from 'zod/mini';
import { schemas as mediaSchemas } from '../media/schemas.js';
import { schemas as messagingSchemas } from '../messaging/schemas.js';

/** The `query`, `body` and `returns` of each endpoint of the messaging service, by its method's name. */
export const messaging: EndpointSchemas<typeof messagingSchemas> = messagingSchemas;

/** The `query`, `body` and `returns` of each endpoint of the media service, by its method's name. */
export const media: EndpointSchemas<typeof mediaSchemas> = mediaSchemas;

// What stands beside them is the client's own, of types that a user could not name.
type EndpointSchemas<Table> = {
  readonly [
    Name in Exclude<keyof Table, 'known' | 'knownQuery' | 'warnings'>
  ]: Table[Name] extends ZodMiniType ? Table[Name] : EndpointSchemas<Table[Name]>;
};
