// Claims names in a journal and prints each one it got; the answer of a claim may take its time.
import { fileJournal } from 'postreel/node';

const [, , path, name, count] = process.argv;
const journal = fileJournal(path);

for (let number = 0; number < Number(count); number++) {
  const id = `${name}_call_${number}`;
  const names = [`queue/${number}`];
  const at = new Date().toISOString();
  const jobs = [{ content: 'Hello', voiceId: 'voice_1' }];
  const taken = await journal.claim({ type: 'intent', id, at, jobs, names });
  if (taken.size > 0) {
    continue;
  }
  console.log(number);
  const fileId = `${name}_file_${number}`;
  await journal.append({ type: 'accepted', id, jobs: [{ fileId, kind: 'audio' }] });
}
