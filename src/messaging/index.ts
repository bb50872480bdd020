export { MessagingClient, type MessagingOptions } from './client.js';
export {
  transient,
  type ContactData,
  type DataValue,
  type ReservedKey,
  type StoredData,
  type Transient,
} from './data.js';
export type * from './filter.js';
export type * from './query.js';
export type * from './activity/types.js';
export type * from './analytics/types.js';
export type * from './auth/types.js';
export type * from './campaigns/types.js';
export type * from './config/types.js';
export type * from './contacts/types.js';
export type * from './domains/types.js';
export type * from './emails/types.js';
export type * from './events/types.js';
export type * from './projects/types.js';
export type * from './segments/types.js';
export type * from './templates/types.js';
export type * from './uploads/types.js';
export type * from './users/types.js';
export type * from './workflows/types.js';
