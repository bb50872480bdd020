// Deploys a workflow and kills itself at its n-th request or write of the state.
import { MessagingClient, type WorkflowStateStore } from 'postreel';
import { fileWorkflowState } from 'postreel/node';
import { onboarding } from '../messaging/onboarding.js';

const [, , path = '', at = '', moment = ''] = process.argv;
const store = fileWorkflowState(path);
let count = 0;

async function step<T>(run: () => Promise<T>): Promise<T> {
  count += 1;
  if (count !== Number(at)) {
    return run();
  }
  if (moment === 'before') {
    return die();
  }
  await run().catch(() => undefined); // an answer that is lost
  return die();
}

function die(): Promise<never> {
  process.kill(process.pid, 'SIGKILL');
  return new Promise(() => undefined);
}

const state: WorkflowStateStore = {
  read: (key) => step(() => store.read(key)),
  write: (key, value) => step(() => store.write(key, value)),
};
const messaging = new MessagingClient({
  fetch: (input, init) => step(() => fetch(input, init)),
  rateLimit: false,
});
await messaging.workflows.deploy(onboarding, { state });
console.log('deployed');
