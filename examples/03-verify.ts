// Verifies email addresses before using them.
// Run: npx tsx --env-file=.env 03-verify.ts
import { MessagingClient } from 'postreel';

const messaging = new MessagingClient();

for (const email of ['ann@example.com', 'bea@gmial.com', 'cem@mailinator.com']) {
  const check = await messaging.verify({ email });
  const verdict = check.valid ? 'ok' : check.reasons.join('; ');
  console.log(`${email}: ${verdict}`);
  if (check.isTypo) {
    console.log('  did you mean another domain?');
  }
}
