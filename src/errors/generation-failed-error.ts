import { branded } from './brand.js';
import { WaitError, type WaitDetails } from './wait-errors.js';

/** The file's status became `error`. */
export class GenerationFailedError extends WaitError {
  constructor(message: string, details: WaitDetails) {
    super(message, { code: 'GENERATION_FAILED', ...details });
  }
}
branded(GenerationFailedError, 'GenerationFailedError', WaitError);
