import type { MediaClient, QueueResult } from 'postreel';
import type { FakeMedia } from 'postreel/testing';
import { inTime, video, videoEndpoint } from './fake-time.js';

/** The results of a queue, in the order of its input. */
export async function collect(queue: AsyncIterable<QueueResult>): Promise<QueueResult[]> {
  const results: QueueResult[] = [];
  for await (const result of queue) {
    results.push(result);
  }
  return results.sort((a, b) => a.index - b.index);
}

/** Creates videos with different prompts. */
export const videos = (count: number) =>
  Array.from({ length: count }, (_, index) => video({ prompt: String(index) }));

/** How many calls handed in videos. */
export const calls = (fake: { requests: readonly { endpoint: string | undefined }[] }) =>
  fake.requests.filter(({ endpoint }) => endpoint === videoEndpoint).length;

/** The client, once the service has accepted a video of it: the next ones of the kind share calls. */
export async function acquainted(client: MediaClient): Promise<MediaClient> {
  const job = await inTime(client.generate.video(video({ prompt: 'before' })));
  await inTime(job.waitForFile());
  return client;
}

/** The files that the service made, without the first video of `acquainted()`. */
export const filesOf = (fake: FakeMedia) =>
  fake.files.filter(({ settings }) => settings.prompt !== 'before');
