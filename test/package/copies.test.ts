import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { installPackage, type Project } from '../support/package/installed.js';

let project: Project;
beforeAll(async () => {
  project = await installPackage();
});
afterAll(() => project.remove());

/** Runs a program that has both copies of the package, and reads the JSON that it prints. */
async function run(code: string): Promise<unknown> {
  const both = `
    import { createRequire } from 'node:module';
    import * as esm from 'postreel';
    import { createFakeMedia } from 'postreel/testing';
    const cjs = createRequire(import.meta.url)('postreel');
    const clientsOf = (options) => [esm, cjs].map((copy) => new copy.MediaClient(options));
    const videos = (count) => Array.from({ length: count }, () =>
      ({ workflowType: 'idea', workflowFormat: 'video', prompt: 'Hi', voiceId: 'voice_1' }));
    const print = (value) => console.log(JSON.stringify(value));`;
  const file = await project.write('main.mjs', both + code);
  return JSON.parse(await project.run(process.execPath, [file]));
}

describe('the ES module and the CommonJS copy in one process', () => {
  it('share the slots of pending jobs', async () => {
    const code = `
      const fake = createFakeMedia({ durations: () => '30m' });
      const [one, other] = clientsOf(fake.options);
      await one.generate.video({ payload: videos(15) });
      const error = await other.generate.video({ payload: videos(15) }, { deadline: 60_000 })
        .catch((reason) => reason);
      await other.generate.video({ payload: videos(5) });
      print([error.code, error.outcome, fake.files.length, fake.requests.map(({ status }) => status)
        .filter((status) => status === 429)]);`;
    expect(await run(code)).toEqual(['QUEUE_TIMEOUT', 'not-sent', 20, []]);
  });

  it('share the slots of pending jobs by the time of the process, too', async () => {
    const code = `
      let posts = 0;
      const fetch = async (url, { method }) => {
        if (method !== 'POST') return Response.json({ success: true, data: { status: 'queued' } });
        posts++;
        const fileIds = videos(15).map((_, index) => 'file_' + posts + '_' + index);
        return Response.json({ success: true, data: { filesCreated: fileIds } });
      };
      const options = { apiKey: 'media_key', baseUrl: 'https://media.test', fetch };
      const [one, other] = clientsOf(options);
      await one.generate.video({ payload: videos(15) });
      const error = await other.generate.video({ payload: videos(15) }, { deadline: 300 })
        .catch((reason) => reason);
      print([posts, error.outcome]);`;
    expect(await run(code)).toEqual([1, 'not-sent']);
  });

  it('find out once that status checks count', async () => {
    const code = `
      const fake = createFakeMedia({ statusCounts: true, durations: () => '12m' });
      const clients = clientsOf(fake.options);
      let learned = 0;
      for (const client of clients) {
        client.on('throttled', ({ reason }) => { learned += reason === 'status-counts' ? 1 : 0; });
      }
      const jobs = await clients[0].generate.video({ payload: videos(6) });
      await Promise.all(jobs.map(({ fileId }, index) =>
        clients[index % 2].waitForFile(fileId, { timeout: Number.POSITIVE_INFINITY })));
      print(learned);`;
    expect(await run(code)).toBe(1);
  });
});
