// Makes one call that is given up, and ends: a test measures how long the process lives after that.
import { MediaClient, memoryJournal, MessagingClient, type JournalStore } from 'postreel';

const [, , kind = '', baseUrl = ''] = process.argv;

if (kind === 'paid') {
  const media = new MediaClient({ baseUrl, timeout: 300 });
  media.on('warning', ({ message }) => console.log(`warning: ${message}`));
  media.on('job:accepted', ({ fileId }) => console.log(`accepted ${fileId}`));
  const job = { content: 'Good morning!', voiceId: 'voice_1' };
  await media.generate.audio(job).catch((error: unknown) => console.log(String(error)));
} else {
  // The response comes, and then the journal cannot be written.
  const journal = memoryJournal();
  const failing: JournalStore = {
    ...journal,
    swap: (key, from, to) =>
      to?.includes('"answered"') ? Promise.reject(new Error('down')) : journal.swap(key, from, to),
  };
  const messaging = new MessagingClient({ baseUrl, journal: failing });
  messaging.on('warning', ({ message }) => console.log(`warning: ${message}`));
  const event = { email: 'ann@example.com', event: 'paid' };
  await messaging.track(event, { once: 'a' });
}
console.log('last line');
