import { expect, it } from 'vitest';
import { withServices } from '../../support/scripts.js';

const script = `
  import { MediaClient } from 'postreel';
  const media = new MediaClient();
  const video = { workflowType: 'idea', workflowFormat: 'video', prompt: 'Cats', voiceId: 'voice_1' };
  const jobs = [video, video, { content: 'Good morning!', voiceId: 'voice_1' }];
  for await (const { index, file } of media.queue(jobs)) console.log(index, file.fileId);
  const [job] = await media.generate.video({ payload: [video] });
  const all = await media.waitForFiles([job.fileId]);
  console.log('finished', all.length);
`;

it('a top-level await keeps the process alive until the queue ends, and not longer', async () => {
  const end = await withServices((run) => run(['--input-type=module', '-e', script]));
  expect(end.output.trim().split('\n').sort()).toEqual([
    '0 file_000001',
    '1 file_000002',
    '2 file_000003',
    'finished 1',
  ]);
  expect(end.code).toBe(0);
}, 60_000);
