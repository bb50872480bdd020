import type { Handlers } from '../../core/types.js';
import type { Scope } from '../state.js';
import { billingHandlers } from './billing.js';
import { memberHandlers } from './members.js';
import { projectHandlers } from './projects.js';

export const handlers: Handlers<Scope> = {
  ...projectHandlers,
  ...billingHandlers,
  ...memberHandlers,
};
