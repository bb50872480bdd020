// Does what a person would do about jobs with an unknown outcome: looks for them in the workspace,
// and records the result in the journal. Arguments: the path of the journal, the group of the
// client, and the existing files as JSON.
import { MediaClient } from 'postreel';
import { fileJournal } from 'postreel/node';

// Sets the clock ten minutes ahead: by then the killed process is known to be dead.
const { now } = Date;
Date.now = () => now() + 600_000;

const [, , path, group, workspace] = process.argv;
const media = new MediaClient({
  journal: fileJournal(path),
  ...(group && { rateLimit: { group } }),
});
const { unknown } = await media.journal.pending();
for (const { id, jobs } of unknown) {
  const files = jobs.map(
    ({ prompt }) => JSON.parse(workspace).find((file) => file.prompt === prompt)?.fileId ?? null,
  );
  await (files.some((file) => file !== null)
    ? media.journal.resolve(id, files)
    : media.journal.dismiss(id));
}
console.log(`settled ${unknown.length}`);
