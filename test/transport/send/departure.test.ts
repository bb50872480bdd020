import { afterEach, expect, it, vi } from 'vitest';

afterEach(() => {
  vi.unstubAllGlobals();
  vi.resetModules();
});

it('tells nothing where the runtime has `getBuiltinModule`, and it throws', async () => {
  const getBuiltinModule = () => {
    throw new Error('A Node.js API is used which is not supported in the Edge Runtime.');
  };
  vi.stubGlobal('process', { ...process, getBuiltinModule });
  vi.resetModules(); // it subscribes once for each process
  const { Departure } = await import('../../../src/transport/send/departure.js');
  const departure = new Departure('POST', 'https://api.test/v1/send', undefined);
  expect(departure.after(new TypeError('fetch failed'), false)).toBeUndefined();
  departure.stop();
});
