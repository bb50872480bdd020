import { MediaClient } from 'postreel';
import { createFakeMedia } from 'postreel/testing';

test('makes speech', async () => {
  const fake = createFakeMedia();
  const media = new MediaClient(fake.options);
  const job = await media.generate.audio({ content: 'Hello', voiceId: 'voice_1' });
  const file = await job.waitForFile(); // takes no time
  expect(file.url).toBe(fake.files[0].download);
});
