import type { MessagingClient } from 'postreel';
import { expectTypeOf, it } from 'vitest';
import type { MethodsFor } from '../../src/core/call/route.js';
import type { routes } from '../../src/messaging/routes.js';

type IsExactly<One, Other> =
  // eslint-disable-next-line @typescript-eslint/no-unnecessary-type-parameters -- `T` defers the comparison
  (<T>() => T extends One ? 1 : 2) extends <T>() => T extends Other ? 1 : 2 ? true : false;

/** The names of the methods that are not exactly as their rows say; `implements` overlooks a dropped body. */
type Differing<Client, Rows, Prefix extends string = ''> = {
  [Name in keyof Rows & string]: Rows[Name] extends (...args: never) => unknown
    ? IsExactly<Client[Name & keyof Client], Rows[Name]> extends true
      ? never
      : `${Prefix}${Name}`
    : Differing<Client[Name & keyof Client], Rows[Name], `${Prefix}${Name}.`>;
}[keyof Rows & string];

type Rows = MethodsFor<typeof routes>;

it('the client has exactly the methods of its rows, except those that are typed better', () => {
  type Better =
    | 'campaigns.create'
    | 'campaigns.replace'
    | 'projects.regenerateKeys'
    | 'segments.create'
    | 'send'
    | 'workflows.delete';
  expectTypeOf<Differing<MessagingClient, Rows>>().toEqualTypeOf<Better>();
  type Delete = Rows['workflows']['delete'];
  expectTypeOf<MessagingClient['workflows']['delete']>().toExtend<Delete>();
  // These have a type parameter, so that the compiler names the property that is wrong.
  type Named<Client extends { send: unknown; campaigns: object; segments: object }> = [
    Client['send'],
    Pick<Client['campaigns'], 'create' & keyof Client['campaigns']>,
    Pick<Client['campaigns'], 'replace' & keyof Client['campaigns']>,
    Pick<Client['segments'], 'create' & keyof Client['segments']>,
  ];
  expectTypeOf<Named<MessagingClient>>().toExtend<Named<Rows>>();
  expectTypeOf<Named<Rows>>().toExtend<Named<MessagingClient>>();
});

it('a method that drops its body would be noticed', () => {
  type Send = (options?: Parameters<Rows['send']>[1]) => ReturnType<Rows['send']>;
  expectTypeOf<Differing<{ send: Send }, Pick<Rows, 'send'>>>().toEqualTypeOf<'send'>();
});
