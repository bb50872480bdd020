import type { ListOptions, RequestOptions } from '../contract/call.js';
import type { CallEvent, ClientEvents } from '../contract/events.js';
import type { OptionKind } from '../contract/options.js';
import type { Route } from '../contract/route.js';
import type { Keyring } from './auth/keyring.js';
import type { Session } from './auth/session.js';
import type { CallState } from './call.js';
import type { Events } from './events.js';
import type { BudgetSource } from './rate-limit/budget-source.js';
import type { Http, OutgoingRequest } from './send/http.js';
import type { Settings } from './settings.js';
import type { SchemaMap } from './validation/issues.js';

/** What a transport is made of. */
export interface TransportParts {
  readonly settings: Settings;
  readonly keyring: Keyring;
  readonly session: Session;
  readonly budgets: BudgetSource;
  readonly events: Events<ClientEvents>;
  readonly http: Http;
  readonly loadSchemas: () => Promise<SchemaMap>;
}

/** The input of a call, without its route's types. */
export interface RawInput {
  readonly params?: Readonly<Record<string, unknown>> | undefined;
  readonly query?: object | undefined;
  readonly body?: unknown;
  /** Makes the body that is sent where that takes time, or refuses the call. */
  readonly bodyLater?: BodyLater | undefined;
  /** The options that only this method has; `bodyLater` gets them. */
  readonly ownOptions?: Readonly<Record<string, OptionKind>> | undefined;
  /** Where in the body the caller's own part stands: names of fields begin there. */
  readonly givenAt?: string | undefined;
  /** Is the body a record that the service returned? Its fields are no surprise then. */
  readonly isServiceRecord?: boolean | undefined;
  /** Is this a status check of something that changes by itself? */
  readonly isPoll?: boolean | undefined;
  /** Is this a call of an endpoint without a row, whose body may be any JSON value? */
  readonly isFree?: boolean | undefined;
  /** Does this call count towards the rate limit, whatever its row has? */
  readonly isCharged?: boolean | undefined;
  /**
   * Runs when the rate limit lets the call go, before each attempt; what it throws ends the call unsent,
   * and a body that it resolves to is sent in place of the one that was given.
   */
  readonly beforeSending?: (() => Promise<unknown>) | undefined;
  /** The input has been checked: see `Transport.check()`. */
  readonly isChecked?: boolean | undefined;
  /** Takes the body of a yes that comes after the call was given up; its request is not aborted then. */
  readonly onLate?: ((body: unknown) => void) | undefined;
}

/** A method, so that one with options of its own fits. */
export type BodyLater = { make(options: RequestOptions): Promise<unknown> }['make'];

/** One call: what does not change from attempt to attempt. */
export interface CallContext {
  /** The number of the call: the same in all of its events. */
  readonly id: number;
  readonly route: Route;
  /** The path with its parameters filled in, without the query. */
  readonly path: string;
  readonly input: RawInput;
  readonly options: ListOptions;
  /** What every attempt sends; only the key is added later. */
  readonly request: OutgoingRequest;
  /** Does the service work through this request one entry after another? */
  readonly isHandledOneByOne: boolean;
  readonly isCharged: boolean;
  /** Does the call take part in the session of `auth.login()`? */
  readonly usesSession: boolean;
  readonly priority: 'interactive' | 'bulk';
  readonly signal: AbortSignal | undefined;
  readonly timeoutMs: number;
  /** When the call must be over, on the monotonic clock; Infinity without a deadline. */
  readonly deadlineAt: number;
  readonly retries: number;
  readonly state: CallState;
}

/** One try of a call. */
export interface Attempt {
  /** 1 for the first. */
  readonly number: number;
  readonly key: string | null;
}

/** A successful answer, read and parsed. */
export interface RawAnswer {
  readonly body: unknown;
  readonly response: Response;
  readonly requestId: string | undefined;
}

/** What every event holds about a call. The path of a call without a row may hold anything. */
export function factsOf({ id, route, path, input }: CallContext): Omit<CallEvent, 'attempt'> {
  return { callId: id, method: route.method, path, route: input.isFree ? undefined : route.path };
}

/** The call that an error belongs to. */
export interface CallFacts {
  readonly method: string;
  readonly path: string;
}

/** The method and path of a call, as errors carry them. */
export function methodAndPath({ route, path }: Pick<CallContext, 'route' | 'path'>): CallFacts {
  return { method: route.method, path };
}

/** The call as a message names it: `POST /contacts`. */
export function lineOf({ route, path }: Pick<CallContext, 'route' | 'path'>): string {
  return `${route.method} ${path}`;
}
