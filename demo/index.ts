import { makeFiles } from './film.js';
import { importContacts, runCampaign, sendMail } from './mail.js';
import { openServices } from './services.js';
import { say } from './terminal.js';
import { runWorkflow } from './workflow.js';

const { messaging, media, isReal, where, close } = await openServices();
console.log(`Postreel against ${where}`);
try {
  await sendMail(messaging, isReal);
  await importContacts(messaging);
  await runCampaign(messaging, isReal);
  await runWorkflow(messaging, isReal);
  await makeFiles(media, isReal);
  const state = messaging.rateLimit.state();
  console.log();
  say(`done; ${state?.used ?? 0} of ${state?.limit ?? 0} requests of this minute used`);
} finally {
  await close();
}
