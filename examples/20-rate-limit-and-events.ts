// Shows what a client does, and leaves a part of the rate limit to other programs.
// Run: npx tsx --env-file=.env 20-rate-limit-and-events.ts
import { MessagingClient } from 'postreel';

const messaging = new MessagingClient({
  rateLimit: { limit: 10, windowMs: 5_000, headroom: 0.2 }, // the service's limit is 1000 a minute
});

messaging.on('throttled', ({ waitMs, queued }) => {
  console.log(`${queued} waiting, about ${Math.round(waitMs)} ms`);
});
messaging.on('retry', ({ method, path, delayMs }) => console.log('again', method, path, delayMs));
messaging.on('response', ({ status, durationMs }) => console.log(status, Math.round(durationMs)));

// Twelve calls where eight fit: four of them wait, and none is rejected.
const addresses = Array.from({ length: 12 }, (_, number) => `person-${number}@example.com`);
await Promise.all(addresses.map((email) => messaging.verify({ email }, { priority: 'bulk' })));

const state = messaging.rateLimit.state();
console.log(`${state?.used ?? 0} of ${state?.limit ?? 0} used, ${state?.queued ?? 0} waiting`);
