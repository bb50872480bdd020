// Limits how long calls may take.
// Run: npx tsx --env-file=.env 15-abort-and-deadline.ts
import { MessagingClient } from 'postreel';

const messaging = new MessagingClient();

// `timeout` is for one attempt, `deadline` for the whole call including waits and retries.
await messaging.contacts.list({ limit: 100 }, { timeout: 10_000, deadline: 25_000 });

// An abort takes effect immediately. The call rejects with the signal's reason.
const controller = new AbortController();
const call = messaging.contacts.get('con_1', { signal: controller.signal });
controller.abort(new Error('The visitor has left.'));

const { error } = await call.safe();
console.log(error?.code, error?.cause);
console.log(`the call's outcome: ${call.outcome ?? 'it was answered'}`);
