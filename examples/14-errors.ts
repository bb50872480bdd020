// Shows what went wrong and whether the call took effect.
// Run: npx tsx --env-file=.env 14-errors.ts
import { ConflictError, InvalidRequestError, MessagingClient } from 'postreel';

const messaging = new MessagingClient();

// Without try and catch:
const { data, error } = await messaging.contacts.get('contact_unknown').safe();
if (error) {
  console.log(error.status, error.outcome, error.requestId);
} else {
  console.log(data.email);
}

// With it:
const ann = await messaging.contacts.create({ email: 'ann@example.com' });
await messaging.contacts.create({ email: 'bea@example.com' });
try {
  await messaging.contacts.update(ann.id, { email: 'bea@example.com' });
} catch (problem) {
  if (!(problem instanceof ConflictError)) {
    throw problem;
  }
  console.log('the address is taken');
}

// Invalid requests are rejected before they are sent:
await messaging.contacts.create({ email: 'not an address' }).catch((problem: unknown) => {
  if (!(problem instanceof InvalidRequestError)) {
    throw problem;
  }
  for (const { field, message } of problem.fieldErrors) {
    console.log(field, message);
  }
});
