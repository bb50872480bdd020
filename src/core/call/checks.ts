import {
  ConfigurationError,
  invalidRequest,
  UnexpectedResponseError,
  type FieldError,
} from '../errors.js';
import type { Events } from '../events.js';
import type { Settings } from '../settings.js';
import type { ClientEvents } from '../types.js';
import { inTime } from './call.js';
import { outcomeWhenLost } from './outcome.js';
import type { CallInput, PreparedCall } from './request.js';
import type { Route } from './route.js';
import {
  findAnswerProblems,
  findBodyNotices,
  findQueryWarnings,
  findRequestProblems,
  type SchemaMap,
} from './validate.js';

const maxInMessage = 10;
const noBody = { field: '', message: 'pass its fields as one object; got undefined' };

/**
 * Replaces a field name in a text by the name that the caller used. A caller may pass only the part of the body
 * at `about.reportPath`; the path of that part is removed.
 */
function toGivenName(text: string, { about }: CallInput): string {
  return about?.reportPath === undefined ? text : text.replace(`${about.reportPath}.`, '');
}

/** The dependencies of the checks. */
export interface CheckParts {
  readonly settings: Settings;
  readonly events: Events<ClientEvents>;
  readonly loadSchemas: () => Promise<SchemaMap>;
}

/** The checks before and after a call. The schemas are loaded when a call first needs them. */
export class Checks {
  readonly #parts: CheckParts;
  #schemas: SchemaMap | undefined;
  #hasWarned = false;

  constructor(parts: CheckParts) {
    this.#parts = parts;
  }

  /**
   * Rejects a request that the service would reject or misread, and emits a `warning` for parts without
   * effect.
   */
  checkRequest(call: PreparedCall): Promise<void> | undefined {
    const isOff = this.#parts.settings.validation.requests === 'off' || call.input.isChecked;
    if (!call.route.hasInput || isOff) {
      return undefined;
    }
    if (this.#schemas) {
      this.#checkRequest(call, this.#schemas);
      return undefined;
    }
    return this.#loadFor(call).then((schemas) => this.#checkRequest(call, schemas));
  }

  #checkRequest({ route, path, input, body, query }: PreparedCall, all: SchemaMap): void {
    const schemas = all.get(route);
    if (!schemas) {
      return;
    }
    const { events } = this.#parts;
    const where = { method: route.method, path };
    const problems = findRequestProblems(schemas, body, query).map((problem) => ({
      ...problem,
      field: toGivenName(problem.field, input),
    }));
    if (problems.length > 0) {
      // `body` here means the whole body, unless a field has that name: so look at the value.
      const isNothing = body === undefined && problems[0]?.field === 'body';
      throw invalidRequest(isNothing ? [noBody] : problems, where);
    }
    const notices = findBodyNotices(schemas, body, input.about?.isServiceRecord);
    const refused = notices
      .filter((notice) => typeof notice !== 'string')
      .map((notice) => ({ ...notice, field: toGivenName(notice.field, input) }));
    if (refused.length > 0) {
      throw invalidRequest(refused, where);
    }
    const warnings = notices.filter((notice) => typeof notice === 'string');
    for (const message of [...warnings, ...findQueryWarnings(schemas, query)]) {
      events.emit('warning', { ...where, message: toGivenName(message, input) });
    }
  }

  /** Reports a response that differs from the documents, if there is a listener. */
  checkAnswer(call: PreparedCall, data: unknown): Promise<void> | undefined {
    const { settings, events } = this.#parts;
    const mode = settings.validation.responses;
    if (mode === 'off' || (mode === 'event' && !events.isObserved('mismatch'))) {
      return undefined;
    }
    if (this.#schemas) {
      this.#checkAnswer(call, data, this.#schemas);
      return undefined;
    }
    return this.#loadAfter(call).then((schemas) => this.#checkAnswer(call, data, schemas));
  }

  #checkAnswer(call: PreparedCall, data: unknown, schemas: SchemaMap | undefined): void {
    const { route, path, state } = call;
    const { settings, events } = this.#parts;
    const mode = settings.validation.responses;
    const isThorough = mode === 'throw';
    const issues = schemas ? problemsOf(route, data, schemas, isThorough) : notChecked;
    if (issues.length === 0) {
      return;
    }
    const where = { method: route.method, path };
    events.emit('mismatch', { ...where, issues });
    if (mode !== 'throw') {
      return;
    }
    state.outcome = outcomeWhenLost(route);
    const first = issues.slice(0, maxInMessage);
    const list = first.map(({ field, message }) => `\`${field}\` ${message}`).join('; ');
    throw new UnexpectedResponseError(
      `The response to ${route.method} ${path} does not match the service's document: ${list}.`,
      { ...where, code: 'RESPONSE_MISMATCH', fieldErrors: issues, outcome: state.outcome },
    );
  }

  // The call took effect. If the schemas cannot be loaded, its response counts as one mismatch, which makes the
  // call fail only with `responses: 'throw'`.
  async #loadAfter(call: PreparedCall): Promise<SchemaMap | undefined> {
    const { route, signal, state } = call;
    try {
      return await this.#loadFor(call);
    } catch {
      if (signal?.aborted) {
        state.outcome = outcomeWhenLost(route);
        throw signal.reason;
      }
      this.#warnUnchecked(call);
      return undefined;
    }
  }

  #warnUnchecked({ route, path }: PreparedCall): void {
    if (!this.#hasWarned) {
      this.#hasWarned = true;
      const message =
        'The schemas could not be loaded. Responses cannot be checked until the schemas have loaded.';
      this.#parts.events.emit('warning', { method: route.method, path, message });
    }
  }

  async #loadFor(call: PreparedCall): Promise<SchemaMap> {
    this.#schemas ??= await inTime(this.#load(), call);
    return this.#schemas;
  }

  #load(): Promise<SchemaMap> {
    return this.#parts.loadSchemas().catch((cause: unknown) => {
      throw schemasMissingError(cause);
    });
  }
}

// If the checks throw, the response counts as one mismatch, too.
function problemsOf(
  route: Route,
  data: unknown,
  all: SchemaMap,
  isThorough: boolean,
): readonly FieldError[] {
  try {
    const schemas = all.get(route);
    return schemas ? findAnswerProblems(route, schemas, data, isThorough) : [];
  } catch {
    return notChecked;
  }
}

const notChecked = [{ field: 'body', message: 'could not be checked' }];

// After a new release, a page may request a chunk that no longer exists.
function schemasMissingError(cause: unknown): ConfigurationError {
  return new ConfigurationError(
    "The checks of requests could not be loaded, so nothing was sent. Reload the page or restart the process, or set `validation: { requests: 'off' }`.",
    { code: 'SCHEMAS_MISSING', outcome: 'not-sent', cause },
  );
}
