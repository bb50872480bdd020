export { bullmqProcessor, type BullmqJob } from './processor.js';
export type { EngineOptions } from '../media/engine.js';
