import { branded } from './brand.js';
import { WaitError, type WaitDetails } from './wait-errors.js';

/** The file's status became `canceled`. */
export class GenerationCanceledError extends WaitError {
  constructor(message: string, details: WaitDetails) {
    super(message, { code: 'GENERATION_CANCELED', ...details });
  }
}
branded(GenerationCanceledError, 'GenerationCanceledError', WaitError);
