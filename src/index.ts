export * from './errors/index.js';
export * from './messaging/index.js';
