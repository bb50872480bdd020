export { schemas as messaging } from '../messaging/schemas.js';
export { schemas as media } from '../media/schemas.js';
