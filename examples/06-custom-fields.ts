// Declares types for your own custom fields and updates some of them.
// Run: npx tsx --env-file=.env 06-custom-fields.ts
import { MessagingClient } from 'postreel';

declare module 'postreel' {
  interface ContactData {
    readonly seats?: number | null | undefined; // the fields that you write
  }
  interface StoredData {
    seats?: number; // the fields that you read
  }
}

const messaging = new MessagingClient();

const { id } = await messaging.contacts.create({
  email: 'ann@example.com',
  data: { seats: 5, renewsAt: new Date('2027-03-01'), nickname: 'Annie' },
});

// A patch: `seats` changes, `nickname` is deleted, `renewsAt` stays.
const contact = await messaging.contacts.update(id, { data: { seats: 8, nickname: null } });
console.log(contact.data?.seats, contact.data);

const { fields } = await messaging.contacts.fields.list();
console.table(fields);
