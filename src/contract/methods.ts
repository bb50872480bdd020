import type { Call, ListOptions, RequestOptions } from './call.js';
import type { Paginated } from './paginated.js';
import type { List, Route } from './route.js';

/** The names of a path's parameters: `'id' | 'stepId'`. */
export type ParameterNames<Path extends string> =
  Path extends `${string}{${infer Name}}${infer Rest}` ? Name | ParameterNames<Rest> : never;

/** One string per parameter, in path order. */
export type PathArguments<Path extends string> = Path extends `${string}{${string}}${infer Rest}`
  ? [string, ...PathArguments<Rest>]
  : [];

/** What a row answers: a {@link Call} of its result, or a {@link Paginated} list. */
export type ResultOf<Returns> =
  Returns extends List<infer Item>
    ? Paginated<Item>
    : Returns extends { readonly type?: infer T }
      ? Call<Exclude<T, undefined>>
      : never;

/** What the result of a row's call is. */
export type Returned<R extends Route> = R['returns'] extends { readonly type?: infer T }
  ? Exclude<T, undefined>
  : never;

/** What one item of a row's list is. */
export type ItemOf<R extends Route> = R['returns'] extends List<infer Item> ? Item : never;

type Need<Key extends string, T> = [T] extends [undefined]
  ? { readonly [K in Key]?: never }
  : undefined extends T
    ? { readonly [K in Key]?: T }
    : { readonly [K in Key]: T };

/** What a call of a row takes: path parameters and a body exactly when the row has them. */
export type Input<R extends Route> =
  R extends Route<infer Path, infer Query, infer Body>
    ? Need<'body', Body> & { readonly query?: Query | undefined } & ParametersOf<Path>
    : never;

type ParametersOf<Path extends string> = [ParameterNames<Path>] extends [never]
  ? { readonly params?: never }
  : { readonly params: { readonly [Name in ParameterNames<Path>]: string } };

type BodyArgument<Body> = [Body] extends [undefined]
  ? []
  : undefined extends Body
    ? [body?: Exclude<Body, undefined>]
    : [body: Body];
type QueryArgument<Query> = [Query] extends [undefined] ? [] : [query?: Exclude<Query, undefined>];

type OptionsOf<Returns> = Returns extends List<unknown> ? ListOptions : RequestOptions;

type MethodOf<R> =
  R extends Route<infer Path, infer Query, infer Body, infer Returns>
    ? (
        ...args: [
          ...PathArguments<Path>,
          ...BodyArgument<Body>,
          ...QueryArgument<Query>,
          options?: OptionsOf<Returns>,
        ]
      ) => ResultOf<Returns>
    : never;

/** The methods that a table asks of its class, nested tables included. */
export type MethodsFor<Table> = {
  readonly [Name in keyof Table]: Table[Name] extends Route
    ? MethodOf<Table[Name]>
    : MethodsFor<Table[Name]>;
};

/** Only the names: for classes whose methods answer something better than the wire does. */
export type NamesOf<Table> = { readonly [Name in keyof Table]: unknown };
