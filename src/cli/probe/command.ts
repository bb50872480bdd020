import { writeFileSync } from 'node:fs';
import { mediaBehaviors, messagingBehaviors, type Table } from 'postreel/testing';
import { CommandEnd } from '../exit-codes.js';
import type { Target } from './ask.js';
import { probeMedia } from './media.js';
import { probeMessaging } from './messaging.js';

/** What is known of both services; `undefined` for one that was not asked. */
interface Found {
  messaging?: object;
  media?: object;
}

/** The command `postreel probe`: asks the services of the environment, and writes `behavior.json`. */
export async function probe(
  environment: NodeJS.ProcessEnv,
  print: (line: string) => void,
): Promise<void> {
  const messaging = targetOf(environment, 'MESSAGING');
  const media = targetOf(environment, 'MEDIA');
  if (messaging === undefined && media === undefined) {
    throw new CommandEnd(
      'configuration',
      'Set MESSAGING_BASE_URL and MESSAGING_API_KEY, or MEDIA_BASE_URL and MEDIA_API_KEY.',
    );
  }
  const found: Found = {};
  if (messaging !== undefined) {
    found.messaging = await probeMessaging(messaging);
    report('messaging', found.messaging, { table: messagingBehaviors, print });
  }
  if (media !== undefined) {
    found.media = await probeMedia(media);
    report('media', found.media, { table: mediaBehaviors, print });
  }
  writeFileSync('behavior.json', `${JSON.stringify(found, undefined, 2)}\n`);
  print('Wrote behavior.json. Give each part to the `behavior` of its fake.');
}

function targetOf(environment: NodeJS.ProcessEnv, name: string): Target | undefined {
  const baseUrl = environment[`${name}_BASE_URL`];
  const apiKey = environment[`${name}_API_KEY`];
  return baseUrl && apiKey ? { baseUrl, apiKey, fetch: globalThis.fetch } : undefined;
}

/** A line for each setting that was seen, with a mark where it differs from the document, and one for the rest. */
function report(
  service: string,
  found: object,
  { table, print }: { readonly table: Table; readonly print: (line: string) => void },
): void {
  for (const [name, value] of Object.entries(found)) {
    const documented = table[name]?.values[0];
    const note = value === documented ? '' : `  (the document: ${String(documented)})`;
    print(`${service} ${name}: ${String(value)}${note}`);
  }
  const unseen = Object.keys(table).filter((name) => !Object.hasOwn(found, name));
  if (unseen.length > 0) {
    print(`${service}, not seen: ${unseen.join(', ')}`);
  }
}
