import { expect, it } from 'vitest';
import { mediaOver } from '../../support/clients.js';
import { answering } from '../../support/msw.js';

const video = { workflowType: 'idea', workflowFormat: 'video', prompt: 'A', voiceId: 'v' } as const;

async function warnings(run: (media: ReturnType<typeof mediaOver>) => PromiseLike<unknown>) {
  const { fetch, requests } = answering(() => ({
    fileId: 'file_1',
    data: { folderId: 'folder_1', filesCreated: ['file_1'] },
  }));
  const media = mediaOver(fetch);
  const heard: string[] = [];
  media.on('warning', ({ message }) => heard.push(message));
  await run(media);
  return { heard, sent: (await requests[0]?.json()) as object };
}

it('a video with an undocumented field is sent, with a suggestion in the warning', async () => {
  const job = { ...video, aspectratio: '9:16' };
  const { heard, sent } = await warnings((media) => media.generate.video({ payload: [job] }));
  expect(heard).toEqual([
    '`payload[0].aspectratio` is not a documented field and may have no effect. Did you mean `aspectRatio`?',
  ]);
  expect(sent).toHaveProperty('payload[0].aspectratio', '9:16');
});

it('a request for several videos is, too', async () => {
  const body = { payload: [video], folderID: 'folder_1' };
  const { heard } = await warnings((media) => media.generate.video(body));
  expect(heard).toEqual([expect.stringMatching(/^`folderID` .* Did you mean `folderId`\?$/)]);
});

it.each<[string, (media: ReturnType<typeof mediaOver>, more: object) => PromiseLike<unknown>]>([
  ['a video', (media, more) => media.generate.video({ ...video, ...more })],
  ['a job', (media, more) => media.generate.video({ payload: [{ ...video, ...more }] })],
  ['speech', (media, more) => media.generate.audio({ content: 'Hi', voiceId: 'v', ...more })],
])('the option `once` among the fields of %s is refused', async (_, run) => {
  const { fetch, requests } = answering();
  const call = Promise.resolve(run(mediaOver(fetch), { once: 'a' }));
  await expect(call).rejects.toMatchObject({ name: 'InvalidRequestError', outcome: 'not-sent' });
  await expect(call).rejects.toThrow(/once` is an option of the call/);
  expect(requests).toEqual([]);
});

it('a typo in a documented word is shown', async () => {
  const job = { ...video, workflowType: 'Idea' } as never;
  await expect(mediaOver(answering().fetch).generate.video(job)).rejects.toThrow(
    'got "Idea". Did you mean "idea"?',
  );
});

it('a field name of another service gets the right suggestion for speech', async () => {
  const body = { content: 'Hi', voiceId: 'v', speed: 1.5 };
  const { heard } = await warnings((media) => media.generate.audio(body));
  expect(heard).toEqual([expect.stringMatching(/^`speed` .* Did you mean `playbackRate`\?$/)]);
});
