/** One field that a request got wrong. */
export interface FieldError {
  field: string;
  message: string;
  code: string;
}

/** What else a refusal may say. */
export interface RefusalDetails {
  errors?: FieldError[];
  suggestion?: string;
  /** Sent as it is, in place of the usual error body. */
  body?: unknown;
  headers?: Readonly<Record<string, string>>;
}

/** Thrown by handlers: the service answers with its status and an error body. */
export class Refusal extends Error {
  readonly status: number;
  readonly code: string;
  readonly details: RefusalDetails;

  constructor(status: number, code: string, message: string, details: RefusalDetails = {}) {
    super(message);
    this.name = 'Refusal';
    this.status = status;
    this.code = code;
    this.details = details;
  }

  /** The same refusal with another status. */
  withStatus(status: number): Refusal {
    return new Refusal(status, this.code, this.message, this.details);
  }
}
