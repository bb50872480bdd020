import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startFakeServer, type FakeServer } from 'postreel/testing';
import { emptyFolder } from '../empty-folder.js';

/** Both services, and the folder of somebody who uses them. */
export interface Scene {
  readonly server: FakeServer;
  readonly env: Readonly<Record<string, string>>;
  readonly folder: string;
  /** Writes a file into the folder. */
  write(name: string, text: string): void;
}

/** Starts both services; their jobs take a second of real time. */
export async function startScene(): Promise<Scene> {
  const server = await startFakeServer({
    media: { clock: { mode: 'real' }, durations: () => '1s' },
  });
  const folder = emptyFolder();
  const { messaging, media } = server;
  messaging.seed({ contacts: 3 });
  return {
    server,
    folder,
    env: {
      MESSAGING_BASE_URL: messaging.baseUrl,
      MESSAGING_API_KEY: messaging.secretKey,
      MEDIA_BASE_URL: media.baseUrl,
      MEDIA_API_KEY: media.apiKey,
    },
    write: (name, text) => writeFileSync(join(folder, name), text),
  };
}

/** A workflow as a user of plain JavaScript writes it. */
export const flow = `export default {
  name: 'Onboarding',
  trigger: { event: 'signed_up' },
  steps: {
    welcome: { type: 'SEND_EMAIL', subject: 'Welcome', body: '<p>Hi</p>', next: 'wait' },
    wait: { type: 'DELAY', amount: 2, unit: 'days', next: 'tips' },
    tips: { type: 'SEND_EMAIL', subject: 'Tips', body: '<p>Hi</p>', next: 'done' },
    done: { type: 'EXIT' },
  },
};
`;
