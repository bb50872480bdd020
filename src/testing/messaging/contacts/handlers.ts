import type { Handlers } from '../../core/types.js';
import type { Scope } from '../state.js';
import { bulkHandlers } from './bulk.js';
import { contactHandlers } from './contacts.js';
import { fieldHandlers } from './fields.js';
import { importHandlers } from './import.js';

export const handlers: Handlers<Scope> = {
  ...contactHandlers,
  ...fieldHandlers,
  ...importHandlers,
  ...bulkHandlers,
};
