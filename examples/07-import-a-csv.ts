// Imports a CSV file and waits for the job to finish.
// Run: npx tsx --env-file=.env 07-import-a-csv.ts
import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { JobFailedError, MessagingClient } from 'postreel';
import { csvFile } from 'postreel/node';

const path = join(tmpdir(), 'postreel-people.csv');
await writeFile(path, 'email,plan\ndee@example.com,pro\nevi@example.com,free\n');

const messaging = new MessagingClient();
const { jobId } = await messaging.contacts.import(await csvFile(path));

try {
  const job = await messaging.contacts.waitForImport(jobId, {
    timeout: 5 * 60_000,
    onUpdate: ({ status, progress }) => console.log(status, progress),
  });
  console.log(job);
} catch (error) {
  if (!(error instanceof JobFailedError)) {
    throw error;
  }
  console.error('The import failed:', error.job);
}
