// Writes to a journal and prints each key that is safe; half of them are removed again.
import { fileJournal } from 'postreel/node';

const [, , path, name, calls] = process.argv;
const content = 'x'.repeat(20_000);

for (let number = 0; number < Number(calls); number++) {
  const journal = fileJournal(path);
  const key = `${name}_${number}`;
  await journal.put(key, content);
  await journal.put(`${key}_short`, '1');
  if (number % 2 === 0) {
    await journal.delete([key]);
  } else {
    await journal.put(key, 'short');
    console.log(key);
  }
}
