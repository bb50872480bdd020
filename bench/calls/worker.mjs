// One client in a separate process: makes the requested number of calls, and prints their cost.
import { clients } from './clients.mjs';

const [, , name, url] = process.argv;
const client = await clients[name](url);

process.on('message', async ({ call, count, atOnce }) => {
  try {
    globalThis.gc?.();
    const cpu = process.cpuUsage();
    const startedAt = performance.now();
    await run(client[call], count, atOnce);
    const { user, system } = process.cpuUsage(cpu);
    process.send({ cpuUs: (user + system) / count, wallUs: wallUs(startedAt, count) });
  } catch (error) {
    process.send({ error: `${name}: ${error}` });
  }
});
process.send('ready');

async function run(call, count, atOnce) {
  let left = count;
  const line = async () => {
    while (left-- > 0) {
      await call();
    }
  };
  await Promise.all(Array.from({ length: atOnce }, line));
}

function wallUs(startedAt, count) {
  return ((performance.now() - startedAt) * 1000) / count;
}
