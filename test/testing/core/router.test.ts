import { expect, it } from 'vitest';
import { createRouter, endpointsOf } from '../../../src/testing/core/router.js';

const find = createRouter(endpointsOf('messaging'));

it('takes its endpoints from the endpoint table', () => {
  expect(endpointsOf('media')).toEqual([
    'POST /v1/generate/video',
    'POST /v1/generate/audio',
    'GET /v1/generate/status',
  ]);
  expect(endpointsOf('messaging')).toHaveLength(112);
});

it('finds a path with parameters, decoded', () => {
  expect(find('GET', '/contacts/a%2Fb%20c')).toEqual({
    endpoint: 'GET /contacts/{id}',
    params: { id: 'a/b c' },
  });
});

it.each([
  ['GET', '/contacts/fields', 'GET /contacts/fields'],
  ['GET', '/contacts/con_1', 'GET /contacts/{id}'],
  ['DELETE', '/workflows/w/executions/e', 'DELETE /workflows/{id}/executions/{executionId}'],
  ['POST', '/workflows/w/executions/cancel-all', 'POST /workflows/{id}/executions/cancel-all'],
  ['GET', '/users/%40me', 'GET /users/@me'],
])('prefers literal segments: %s %s', (method, path, endpoint) => {
  expect(find(method, path)?.endpoint).toBe(endpoint);
});

it.each([
  ['PUT', '/contacts'],
  ['GET', '/contacts/'],
  ['GET', '/contacts/a/b/c'],
  ['GET', '/nowhere'],
])('does not know %s %s', (method, path) => {
  expect(find(method, path)).toBeUndefined();
});

it('leaves a segment alone that cannot be decoded', () => {
  expect(find('GET', '/contacts/%E0%A4%A')?.params).toEqual({ id: '%E0%A4%A' });
});
