// Claims keys in a journal, and prints the number of each claimed key before it writes the answer.
import { fileJournal } from 'postreel/node';

const [, , path = '', name = '', count] = process.argv;
const journal = fileJournal(path);

for (let number = 0; number < Number(count); number++) {
  if ((await journal.swap(`claim/${number}`, undefined, name)) === name) {
    console.log(number);
    await journal.swap(`answer/${number}`, undefined, name);
  }
}
