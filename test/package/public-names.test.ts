import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { publicNamesFile, readPublicNames } from '../../scripts/public-names.js';
import { namelessTypes } from '../support/package/nameless.js';

it('the public names change only together with the list of them: npm run api', async () => {
  expect(await readPublicNames()).toEqual(JSON.parse(readFileSync(publicNamesFile, 'utf8')));
});

it('every type that a user meets behind the public names has a public name', () => {
  // They go with the state of a deployment.
  const leaving = ['DeployedPart (of WorkflowState)', 'PendingCreation (of WorkflowState)'];
  expect(namelessTypes()).toEqual(leaving);
});
