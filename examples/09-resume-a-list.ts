// Continues where the last run stopped: run it again and again.
// Run: npx tsx --env-file=.env 09-resume-a-list.ts
import { readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MessagingClient } from 'postreel';

const place = join(tmpdir(), 'postreel-place.txt');
const cursor = await readFile(place, 'utf8').catch(() => undefined);
console.log(cursor === undefined ? 'from the start' : `from ${cursor}`);

const messaging = new MessagingClient();
let pages = 0;
for await (const page of messaging.contacts.list({ limit: 20, cursor }).pages()) {
  for (const { email } of page.items) {
    console.log(email);
  }
  if (page.cursor === undefined) {
    await rm(place, { force: true });
  } else {
    await writeFile(place, page.cursor);
  }
  if (++pages === 2) {
    break;
  } // enough for today
}
