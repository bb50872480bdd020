// `TRANSPORT=node` runs the tests with `nodeFetch()` wherever a client is given no `fetch` of its own.
import { direct } from '../../src/contract/client-options.js';
import { nodeFetch } from '../../src/node/index.js';

if (process.env['TRANSPORT'] === 'node') {
  const usual = globalThis.fetch;
  const second = nodeFetch();
  const either: typeof fetch = (input, init) =>
    input instanceof Request ? usual(input, init) : second(input, init); // a test's own request
  globalThis.fetch = Object.assign(either, { [direct]: true });
}
