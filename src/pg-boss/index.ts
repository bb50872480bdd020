export { pgBossHandler, type PgBossJob } from './handler.js';
export type { EngineOptions } from '../media/engine.js';
