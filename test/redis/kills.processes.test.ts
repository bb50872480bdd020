import { expect, it } from 'vitest';
import { survive } from '../support/kills/survive.js';
import { noRedis, startRedis } from '../support/stores/redis-server.js';

if (noRedis !== undefined) {
  console.log(`Kills over a journal in Redis are not tested: ${noRedis}.`);
}

it.skipIf(noRedis)(
  '40 jobs over Redis survive 20 kills of two processes: none is made twice, none is lost',
  async () => {
    const server = await startRedis({ keeps: true });
    try {
      const outcome = await survive({ journal: 'redis', at: server.url, jobs: 40, kills: 20 });
      console.log('Redis:', JSON.stringify(outcome));
      const { twice, lost, wrong, made, unknown } = outcome;
      expect({ twice, lost, wrong }).toEqual({ twice: [], lost: [], wrong: [] });
      expect(made + unknown).toBe(40);
    } finally {
      await server.stop();
    }
  },
);
