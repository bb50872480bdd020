// Writes to a journal and prints the key of each acknowledged write; removes half of the keys
// again.
import { fileJournal } from 'postreel/node';

const [, , path = '', name = '', calls] = process.argv;
const content = 'x'.repeat(20_000);

for (let number = 0; number < Number(calls); number++) {
  const journal = fileJournal(path);
  const key = `${name}_${number}`;
  await journal.swap(key, undefined, content);
  await journal.swap(`${key}_short`, undefined, '1');
  if (number % 2 === 0) {
    await journal.swap(key, content, undefined);
  } else {
    await journal.swap(key, content, 'short');
    console.log(key);
  }
}
