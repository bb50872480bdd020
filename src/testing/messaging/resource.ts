import { isRecord } from '../../core/values.js';
import { checkFields, type Between, type FieldsOf, type Rules } from '../core/checks.js';
import { Refusal, type FieldError } from '../core/http.js';
import type { FakeRequest, Handlers } from '../core/types.js';
import { listAnswer, type List, type Listed } from './lists.js';
import type { Project, Scope } from './state.js';

/** One kind of record in a project, such as templates. `crud()` makes the handlers of its endpoints. */
export interface Resource<Item extends Listed> {
  /** The path of its endpoints, and its name in lists, e.g. `templates`. */
  readonly name: string;
  /** The style of its list in the document; `cursor` if the document shows none. */
  readonly style: List<Item>['style'];
  readonly of: (project: Project) => Map<string, Item>;
  /** The items of a list that its query asks for. @default all */
  readonly filter?: (request: FakeRequest) => (item: Item) => boolean;
  /** The record in a list. @default as it is stored */
  readonly listed?: (item: Item) => object & Listed;
  /** The record in all other answers. @default as in a list */
  readonly view?: (item: Item, scope: Scope) => object;
  /** Makes a record from the body of a POST. */
  readonly create?: (scope: Scope, request: FakeRequest) => Item;
  /** The changes that the body of a PATCH asks for. */
  readonly change?: (scope: Scope, request: FakeRequest, item: Item) => object;
  /** Refuses to delete a record that is in use. */
  readonly checkUnused?: (scope: Scope, item: Item) => void;
}

/** The handlers of a list, a creation, a read, a change and a deletion, as far as the resource has them. */
export function crud<Item extends Listed>(resource: Resource<Item>): Handlers<Scope> {
  const { name, style, of, filter, create, change, checkUnused } = resource;
  const { listed = (item: Item): object & Listed => item, view = listed } = resource;
  const find = (scope: Scope, request: FakeRequest) => findOwn(scope, of, request.params.id);
  return {
    [`GET /${name}`]: (request, scope) => {
      const all = [...of(scope.project).values()];
      const items = filter ? all.filter(filter(request)) : all;
      return listAnswer(scope, request, { items: items.map(listed), name, style });
    },
    [`GET /${name}/{id}`]: (request, scope) => ({ body: view(find(scope, request), scope) }),
    [`DELETE /${name}/{id}`]: (request, scope) => {
      const item = find(scope, request);
      checkUnused?.(scope, item);
      of(scope.project).delete(item.id);
      return { status: 204 };
    },
    ...(create && {
      [`POST /${name}`]: (request: FakeRequest, scope: Scope) => {
        const item = create(scope, request);
        of(scope.project).set(item.id, item);
        return { status: 201, body: view(item, scope) };
      },
    }),
    ...(change && {
      [`PATCH /${name}/{id}`]: (request: FakeRequest, scope: Scope) => {
        const item = find(scope, request);
        Object.assign(item, change(scope, request, item), { updatedAt: isoNow(scope) });
        return { body: view(item, scope) };
      },
    }),
  };
}

/** The time of the service, as its answers have it. */
export function isoNow({ world }: Pick<Scope, 'world'>): string {
  return world.clock.date().toISOString();
}

/** The times of a new record. */
export function stamps(scope: Pick<Scope, 'world'>): { createdAt: string; updatedAt: string } {
  const at = isoNow(scope);
  return { createdAt: at, updatedAt: at };
}

/** Reads the fields of a JSON body; everything that is wrong ends in one 422 VALIDATION_ERROR. */
export function readBody<Table extends Rules>(
  request: FakeRequest,
  rules: Table,
  between?: Between<Table>,
): FieldsOf<Table> {
  const { fields, errors } = checkFields(rules, bodyOf(request), between);
  if (errors.length > 0) {
    throw invalid(errors);
  }
  return fields;
}

/** The body as it came. */
export function bodyOf({ body = {} }: FakeRequest): Record<string, unknown> {
  // messaging, Errors: 400 for a malformed body.
  if (!isRecord(body)) {
    throw new Refusal(400, 'BAD_REQUEST', 'The body must be a JSON object.');
  }
  return body;
}

/** The refusal of one field. */
export function invalidField(field: string, message: string, code = 'invalid_value'): Refusal {
  return invalid([{ field, message, code }]);
}

/** messaging, Errors: 422 with `VALIDATION_ERROR` and the `errors` array. */
function invalid(errors: FieldError[]): Refusal {
  return new Refusal(422, 'VALIDATION_ERROR', 'Validation failed.', {
    errors,
    suggestion: 'Correct the fields listed in `errors` and send the request again.',
  });
}

/** The refusal of a change that the state of a record does not allow. */
export function stateConflict(message: string, suggestion?: string): Refusal {
  return new Refusal(
    400,
    'STATE_CONFLICT',
    message,
    suggestion === undefined ? {} : { suggestion },
  );
}

/** A resource of the caller's project: 404 when no project has it, 403 when another project has. */
export function findOwn<Item>(
  scope: Scope,
  collection: (project: Project) => ReadonlyMap<string, Item>,
  id = '',
): Item {
  const item = collection(scope.project).get(id);
  if (item !== undefined) {
    return item;
  }
  const isForeign = [...scope.world.projects.values()].some((other) => collection(other).has(id));
  throw isForeign ? forbidden(`${id} belongs to another project.`) : notFound(id);
}

/** A part of a record by its id, or a 404. */
export function findIn<Item>(items: ReadonlyMap<string, Item>, id = ''): Item {
  const item = items.get(id);
  if (item === undefined) {
    throw notFound(id);
  }
  return item;
}

export function notFound(what: string): Refusal {
  return new Refusal(404, 'NOT_FOUND', `${what} does not exist.`);
}

export function forbidden(message: string): Refusal {
  return new Refusal(403, 'FORBIDDEN', message);
}

/** Drops keys that are undefined, so that the rest can stand in optional properties. */
export function given<Values extends Record<string, unknown>>(
  values: Values,
): { [Key in keyof Values]?: Exclude<Values[Key], undefined> } {
  const kept = Object.entries(values).filter(([, value]) => value !== undefined);
  // Entries lose the types of their keys.
  return Object.fromEntries(kept) as { [Key in keyof Values]?: Exclude<Values[Key], undefined> };
}
