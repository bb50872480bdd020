// Appends calls to a journal and prints each one that is safe; half of their jobs come to their end.
import { fileJournal } from 'postreel/node';

const [, , path, name, calls] = process.argv;
const content = 'x'.repeat(20_000);
const at = new Date().toISOString();

const append = (entry) => fileJournal(path).append(entry);
for (let number = 0; number < Number(calls); number++) {
  const [id, fileId] = [`${name}_call_${number}`, `${name}_file_${number}`];
  await append({ type: 'intent', id, at, jobs: [{ content, voiceId: 'voice_1' }] });
  await append({ type: 'accepted', id, jobs: [{ fileId, kind: 'audio' }] });
  if (number % 2 === 0) {
    await append({ type: 'settled', fileId, status: 'success' });
  } else {
    console.log(fileId);
  }
}
