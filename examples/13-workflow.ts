// Welcomes people who sign up: pro customers get an email after an hour.
// Run: npx tsx --env-file=.env 13-workflow.ts
import { MessagingClient } from 'postreel';

const { contacts, workflows } = new MessagingClient();

// A second workflow for the same event would send the email twice; example 29 deploys changes.
for await (const { name } of workflows.list()) {
  if (name === 'Welcome') {
    console.log('This project has the workflow already.');
    process.exit();
  }
}
const { id } = await workflows.create({ name: 'Welcome', eventName: 'signed_up' });

// The service does not document the fields of `config`.
const wait = await workflows.steps.create(id, { type: 'DELAY', config: { duration: '1h' } });
const isPro = await workflows.steps.create(id, {
  type: 'CONDITION',
  config: { field: 'data.plan', operator: 'equals', value: 'pro' },
});
const email = await workflows.steps.create(id, {
  type: 'SEND_EMAIL',
  config: { subject: 'Welcome {{name ?? "on board"}}', body: '<p>Hello!</p>' },
});
const exit = await workflows.steps.create(id, { type: 'EXIT' });

for (const transition of [
  { fromStepId: wait.id, toStepId: isPro.id },
  { fromStepId: isPro.id, toStepId: email.id, branch: 'yes' },
  { fromStepId: isPro.id, toStepId: exit.id, branch: 'no' },
] as const) {
  await workflows.transitions.create(id, transition);
}
await workflows.update(id, { enabled: true }); // from now on every `signed_up` starts it

const data = { plan: 'pro', name: 'Ann' };
const contact = await contacts.create({ email: 'ann@example.com', data });
const execution = await workflows.executions.start(id, { contactId: contact.id });
console.log(execution.status); // the email is sent in an hour
