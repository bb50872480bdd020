export { bullmqSource, type BullmqOptions, type BullmqSource } from './source.js';
