import { expect, it } from 'vitest';
import { LazyPart, loadPart } from '../../src/transport/load-part.js';

it('a part that fails to load is a typed error, and the next call tries again', async () => {
  const gone = new TypeError('Failed to fetch dynamically imported module');
  let tries = 0;
  const load = () => (++tries === 1 ? Promise.reject(gone) : Promise.resolve('part'));
  await expect(loadPart(load)).rejects.toMatchObject({
    name: 'ConfigurationError',
    code: 'PART_MISSING',
    outcome: 'not-sent',
    cause: gone,
  });
  await expect(loadPart(load)).resolves.toBe('part');
});

it('a part that follows what was sent says nothing of an outcome', async () => {
  const part = new LazyPart(() => Promise.reject(new TypeError('gone')), 'follow');
  const failure: unknown = await part.load().catch((error: unknown) => error);
  expect(failure).toMatchObject({ code: 'PART_MISSING', outcome: undefined });
  expect((failure as Error).message).toContain('What was sent before goes on.');
});
