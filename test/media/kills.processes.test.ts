import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { survive } from '../support/kills/survive.js';

it('60 jobs over a file journal survive 60 kills of two processes: none is made twice, none is lost', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'postreel-kills-'));
  try {
    const outcome = await survive({
      journal: 'file',
      at: join(folder, 'jobs.jsonl'),
      jobs: 60,
      kills: 60,
    });
    console.log('file:', JSON.stringify(outcome));
    const { kills, twice, lost, wrong, made, unknown } = outcome;
    expect({ twice, lost, wrong }).toEqual({ twice: [], lost: [], wrong: [] });
    expect(made + unknown).toBe(60);
    expect(kills.before + kills.after).toBe(30);
    expect(kills.start + kills.any).toBe(30);
  } finally {
    await rm(folder, { recursive: true });
  }
});
