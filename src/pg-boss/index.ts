export { pgBossSource, type PgBossClient, type PgBossOptions } from './source.js';
