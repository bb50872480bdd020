export { instrument, type InstrumentOptions, type Instrumented } from './instrument.js';
