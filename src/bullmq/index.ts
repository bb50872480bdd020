export { bullmqSource, type BullmqItem, type BullmqOptions, type BullmqSource } from './source.js';
