import { Queue, Worker } from 'bullmq';
import { bullmqSource, type BullmqItem, type BullmqSource } from 'postreel/bullmq';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import {
  engineContract,
  readOrThrow,
  speech,
  type Engine,
} from '../support/stores/engine-contract.js';
import { noRedis, startRedis, type RedisServer } from '../support/stores/redis-server.js';

if (noRedis !== undefined) {
  console.log(`postreel/bullmq is not tested with an engine: ${noRedis}.`);
}

describe.skipIf(noRedis)('bullmqSource', () => {
  let server: RedisServer;
  const parties: (Queue | BullmqSource)[] = [];
  let count = 0;
  beforeAll(async () => {
    server = await startRedis();
  });
  afterEach(async () => {
    vi.restoreAllMocks();
    await Promise.all(parties.splice(0).map((party) => party.close()));
  });
  afterAll(() => server.stop());

  const open = async (): Promise<Engine<BullmqItem>> => {
    const name = `videos-${++count}`;
    const connection = { port: server.port, host: '127.0.0.1' };
    const queue = new Queue(name, { connection });
    const unknown = new Queue(`${name}-unknown`, { connection });
    const source = await bullmqSource(name, { connection, jobOf: readOrThrow });
    parties.push(queue, unknown, source);
    return {
      source,
      async add(jobs) {
        await queue.addBulk(jobs.map((data) => ({ name: 'speech', data, opts: { attempts: 3 } })));
      },
      unknown: () => unknown.getJobs(),
      async counts() {
        const { waiting = 0, completed = 0 } = await queue.getJobCounts('waiting', 'completed');
        return { waiting, completed };
      },
    };
  };
  engineContract(open);

  it('hands out what it has taken when Redis fails before it has taken all', async () => {
    const engine = await open();
    const { source } = engine;
    await engine.add([speech('One.')]);
    const [item] = (await source.take(1)) ?? [];
    const next = vi.spyOn(Worker.prototype, 'getNextJob');
    next.mockResolvedValueOnce(item!.held).mockRejectedValue(new Error('READONLY'));
    expect(await source.take(5)).toEqual([item]);
    await expect(source.take(5)).rejects.toThrow('READONLY');
  });
});
