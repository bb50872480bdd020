import { describe, expect, it } from 'vitest';
import type { Route } from '../../src/core/call/route.js';
import { routes as mediaRoutes } from '../../src/media/routes.js';
import { routes as messagingRoutes } from '../../src/messaging/routes.js';
import endpoints from '../../src/testing/endpoints.json' with { type: 'json' };
import { callWorld, idFor, inputFor } from '../support/contract/calls.js';

const tables = { messaging: messagingRoutes, media: mediaRoutes };

describe.each(endpoints)('the fake and $sdk', ({ sdk, method: verb, path, service }) => {
  it('agree on what is asked and answered', async () => {
    const world = await callWorld(service);
    const names = sdk.split('.').slice(1);
    const method = names.pop() ?? '';
    const owner = names.reduce<object>(
      (value, key) => Reflect.get(value, key) as object,
      world.client,
    );
    const ids = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) =>
      idFor(world.ids, sdk, name),
    );
    const input = inputFor(sdk, world.ids);
    const args = [...ids, ...(input === undefined ? [] : [input])];
    const call = Reflect.get(owner, method) as (...values: unknown[]) => PromiseLike<unknown>;
    const result = await call.apply(owner, args);
    expect(result !== undefined || answersNothing(sdk)).toBe(true);
    const last = world.fake.requests.at(-1);
    expect(last).toMatchObject({ endpoint: `${verb} ${path}` });
    expect(last?.status).toBeLessThan(300);
  });
});

/** Does the row of a method say that the service answers nothing but its success? */
function answersNothing(sdk: string): boolean {
  const row = sdk
    .split('.')
    .reduce<object>((value, key) => Reflect.get(value, key) as object, tables) as Route;
  return row.returns.list === undefined && row.returns.isNothing === true;
}
