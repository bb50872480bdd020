export { importAll } from './import-all.js';
export { inBulk } from './in-bulk.js';
