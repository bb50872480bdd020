export { edit } from './campaigns/edit.js';
export { checkFields } from './contacts/check-fields.js';
export { findByEmail, idOf } from './contacts/find-by-email.js';
export { importAll } from './contacts/import-all.js';
export { inBulk } from './contacts/in-bulk.js';
export { lookupAll } from './contacts/lookup-all.js';
export { verifyAll } from './emails/verify-all.js';
export { notConfirmed, notFields, notTime, refuseIfUsed } from './shared/refusals.js';
export { withImageType } from './uploads/image-type.js';
