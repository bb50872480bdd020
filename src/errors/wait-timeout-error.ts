import { branded } from './brand.js';
import { WaitError, type WaitDetails } from './wait-errors.js';

/** The wait was longer than its `timeout`. The job itself goes on; `resume()` waits again. */
export class WaitTimeoutError extends WaitError {
  constructor(message: string, details: WaitDetails) {
    super(message, { code: 'WAIT_TIMEOUT', ...details });
  }
}
branded(WaitTimeoutError, 'WaitTimeoutError', WaitError);
