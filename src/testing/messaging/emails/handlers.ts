import type { Handlers } from '../../core/types.js';
import type { Scope } from '../state.js';
import { send } from './send.js';
import { verify } from './verify.js';

export const handlers: Handlers<Scope> = {
  'POST /v1/send': send,
  'POST /v1/verify': verify,
};
