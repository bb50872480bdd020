import { expect, it } from 'vitest';
import { loadPart } from '../../src/transport/load-part.js';

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
