import { expect, it, onTestFinished } from 'vitest';
import { messagingOver } from '../../support/clients.js';
import { inTime, useFakeTime } from '../../support/media/fake-time.js';

useFakeTime();

// Node 20 warns at eleven listeners of one signal.
it('thirty calls that are repeated may share a signal', async () => {
  const warnings: string[] = [];
  const onWarning = ({ name }: Error) => warnings.push(name);
  process.on('warning', onWarning);
  onTestFinished(() => void process.off('warning', onWarning));

  let requests = 0;
  const refused = Object.assign(new Error('connect'), { code: 'ECONNREFUSED', syscall: 'connect' });
  const fetch = () =>
    ++requests <= 60
      ? Promise.reject(new TypeError('fetch failed', { cause: refused }))
      : Promise.resolve(Response.json({ items: [] }));
  const { signal } = new AbortController();
  const client = messagingOver(fetch);
  const calls = Array.from({ length: 30 }, (_, index) =>
    client.contacts.get(`con_${index}`, { signal }),
  );
  await inTime(Promise.all(calls));
  await new Promise((resolve) => setImmediate(resolve)); // the warning comes a tick later
  expect(requests).toBe(90);
  expect(warnings).not.toContain('MaxListenersExceededWarning');
});
