// Sends a welcome email once per user: at the sign-up, or in the night after it.
// Run: npx tsx --env-file=.env 30-welcome-once.ts
import { isPostreelError, MessagingClient } from 'postreel';
import { fileJournal } from 'postreel/node';

interface User {
  readonly id: number;
  readonly email: string;
  readonly createdAt: Date;
  isWelcomed: boolean;
}
const users = new Map<string, User>(); // your database

// If you have several hosts, use `redisJournal()` or `postgresJournal()`.
const messaging = new MessagingClient({ journal: fileJournal('welcome.jsonl') });
const keyOf = ({ id }: User) => `welcome/${id}`;

async function welcome(user: User): Promise<void> {
  const mail = { template: 'tpl_welcome', to: user.email }; // the same in every attempt
  try {
    await messaging.send(mail, { once: keyOf(user), deadline: 10_000 });
    user.isWelcomed = true;
  } catch (error) {
    if (!isPostreelError(error)) {
      throw error;
    }
    console.error(`${keyOf(user)}: ${error.message}`); // the nightly job takes care of this user
  }
}

/** Handles the form of your page. The visitor is signed up, whatever happens to the email. */
export async function signUp(request: Request): Promise<Response> {
  const email = new URLSearchParams(await request.text()).get('email') ?? '';
  const added = { id: users.size + 1, email, createdAt: new Date(), isWelcomed: false };
  const user = users.get(email) ?? added;
  users.set(email, user);
  await welcome(user);
  return new Response('Welcome! Your email arrives by tomorrow.', { status: 201 });
}

/** Run it every night. */
export async function welcomeOthers(): Promise<void> {
  const entries = await messaging.journal.list({ state: 'unknown' });
  const unknown = new Map(entries.map((entry) => [entry.key, entry]));
  for (const user of [...users.values()].filter(({ isWelcomed }) => !isWelcomed)) {
    const entry = unknown.get(keyOf(user));
    if (!entry) {
      await welcome(user);
    } else if (entry.ageMs > 10 * 60_000) {
      // An email that was sent less than ten minutes ago may not be in the feed yet.
      user.isWelcomed = await hasEmail(user);
      if (!user.isWelcomed) {
        await messaging.journal.forget(entry.key, { call: entry.call });
        await welcome(user);
      }
    }
  }
}

/** Whether the service has sent the user an email. Your service may use other names in its feed. */
async function hasEmail({ email, createdAt }: User): Promise<boolean> {
  const contact = await messaging.contacts.findByEmail(email); // `send()` creates the contact
  if (!contact) {
    return false;
  }
  const startDate = new Date(createdAt.getTime() - 3_600_000); // the clock of the service may differ
  for await (const { type, contactId } of messaging.activity.list({ startDate })) {
    if (typeof type !== 'string') {
      throw new Error('The feed has other fields: adapt hasEmail().'); // do not send twice
    }
    if (type === 'email.sent' && contactId === contact.id) {
      return true;
    }
  }
  return false;
}

const form = () => new URLSearchParams({ email: 'nora@example.com' });
const page = 'https://shop.example.com/signup';
const visit = () => signUp(new Request(page, { method: 'POST', body: form() }));
console.log((await visit()).status, (await visit()).status); // the second click sends nothing
await welcomeOthers();
console.log([...users.values()]);
