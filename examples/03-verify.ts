// Verifies email addresses before using them.
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
