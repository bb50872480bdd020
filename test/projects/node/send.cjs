const assert = require('node:assert');
const { MessagingClient } = require('postreel');

const mail = { from: 'shop@example.com', to: 'ann@example.com', subject: 'Hi', body: 'Hi' };
async function main() {
  assert.equal(process.versions.node.split('.')[0], process.argv[2]);
  const { emails } = await new MessagingClient().send(mail);
  assert.equal(emails.length, 1);
}
main();
