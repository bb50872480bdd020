import * as client from 'postreel';
import { createClock, createFakeMedia, createFakeMessaging } from 'postreel/testing';
import { intercepted, tracked } from '../msw.js';
import type { MediaScene, MessagingScene } from './law.js';
import type { World } from './worlds.js';

let scenes = 0;

/** Behind the global `fetch` by MSW, as users have it, or in memory, which is ten times as fast. */
export type Path = 'msw' | 'memory';

/** A messaging service of a world, and a client that is told nothing about it. */
export function messagingScene(
  world: World,
  path: Path,
  { MessagingClient }: Pick<typeof client, 'MessagingClient'> = client,
): MessagingScene {
  const baseUrl = `https://world-${++scenes}.fake`;
  const fake = createFakeMessaging({ baseUrl, behavior: world });
  const messaging = new MessagingClient({
    apiKey: fake.secretKey,
    baseUrl,
    rateLimit: false,
    // MSW copies every answer and lets nobody hear of the copy of a broken one.
    fetch: path === 'msw' && !isBroken(world) ? intercepted(fake) : fake.fetch,
  });
  return { fake, messaging, world: fake.settings };
}

/** A media service of a world on the test's own time, in memory: waits make many requests. */
export function mediaScene(world: World): MediaScene {
  const host = `world-${++scenes}.fake`;
  const fake = createFakeMedia({
    baseUrl: `https://${host}`,
    cdnUrl: `https://cdn.${host}`,
    clock: createClock({ now: () => Date.now() }),
    behavior: world,
  });
  const media = new client.MediaClient({
    apiKey: fake.apiKey,
    baseUrl: fake.baseUrl,
    rateLimit: { group: host },
    // Unpacking takes the machine's own time, and a busy one takes long.
    fetch: tracked(fake.fetch, world['delivery'] === 'compressed' ? 20_000 : 10),
  });
  return { fake, media, world: fake.settings };
}

const isBroken = ({ errorShape, cutAnswers }: World) =>
  errorShape === 'cut' || cutAnswers === 'some-reads';
