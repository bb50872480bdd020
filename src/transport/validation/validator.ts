import {
  ConfigurationError,
  UnexpectedResponseError,
  type FieldError,
} from '../../errors/index.js';
import type { CallContext, TransportParts } from '../context.js';
import { withinDeadline } from '../deadline.js';
import { refuse } from '../../errors/client-errors.js';
import { answerProblems, bodyWarnings, requestProblems, type SchemaMap } from './issues.js';

const mostInMessage = 10;
const noBody = { field: '', message: 'pass its fields as one object; got undefined' };

/** The checks before and after a call. Schemas are loaded when a call first needs them. */
export class Validator {
  readonly #parts: TransportParts;
  #schemas: SchemaMap | undefined;

  constructor(parts: TransportParts) {
    this.#parts = parts;
  }

  /** Refuses what the service would reject or misread, and warns of what will have no effect. */
  async checkRequest(call: CallContext): Promise<void> {
    const { route, path, input } = call;
    const { settings, events } = this.#parts;
    if (settings.validation.requests === 'off') {
      return;
    }
    const { body, query } = input;
    this.#schemas ??= await withinDeadline(this.#load(), call);
    const schemas = this.#schemas.get(route);
    if (!schemas) {
      return;
    }
    const where = { method: route.method, path };
    const problems = requestProblems(schemas, body, query);
    if (problems.length > 0) {
      // `body` is the name of a field too.
      const isNothing = body === undefined && problems[0]?.field === 'body';
      throw refuse(isNothing ? [noBody] : problems, where);
    }
    for (const message of bodyWarnings(schemas, body, input.isHandedBack)) {
      events.emit('warning', { ...where, message });
    }
  }

  /** Reports an answer that does not look like its document says. */
  async checkAnswer(call: CallContext, data: unknown): Promise<void> {
    const { route, path, state } = call;
    const { settings, events } = this.#parts;
    const mode = settings.validation.responses;
    if (mode === 'off') {
      return;
    }
    const issues = await this.#problemsOf(call, data, mode === 'throw');
    if (issues.length === 0) {
      return;
    }
    const where = { method: route.method, path };
    events.emit('mismatch', { ...where, issues });
    if (mode !== 'throw') {
      return;
    }
    state.outcome = route.changes ? 'unknown' : 'rejected';
    const first = issues.slice(0, mostInMessage);
    const list = first.map(({ field, message }) => `\`${field}\` ${message}`).join('; ');
    throw new UnexpectedResponseError(
      `${route.method} ${path} was answered, but not as its document says: ${list}.`,
      { ...where, code: 'RESPONSE_MISMATCH', fieldErrors: issues, outcome: state.outcome },
    );
  }

  // The call has happened: an answer too odd to be checked must not make it fail.
  async #problemsOf(
    call: CallContext,
    data: unknown,
    isThorough: boolean,
  ): Promise<readonly FieldError[]> {
    const { route, signal, state } = call;
    try {
      this.#schemas ??= await withinDeadline(this.#load(), call);
      const schemas = this.#schemas.get(route);
      return schemas ? answerProblems(route, schemas, data, isThorough) : [];
    } catch {
      if (signal?.aborted) {
        state.outcome = route.changes ? 'unknown' : 'rejected';
        throw signal.reason;
      }
      return [{ field: 'body', message: 'could not be checked' }];
    }
  }

  #load(): Promise<SchemaMap> {
    return this.#parts.loadSchemas().catch((cause: unknown) => {
      throw notLoaded(cause);
    });
  }
}

// After a new release a page may ask for a chunk that is gone.
function notLoaded(cause: unknown): ConfigurationError {
  return new ConfigurationError(
    "The checks of requests could not be loaded, so nothing was sent. Reload the page or restart the process, or set `validation: { requests: 'off' }`.",
    { code: 'SCHEMAS_MISSING', outcome: 'not-sent', cause },
  );
}
