import * as client from 'postreel';
import { createFakeMedia, createFakeMessaging } from 'postreel/testing';
import { intercepted } from '../msw.js';
import type { MediaScene, MessagingScene } from './law.js';
import type { World } from './worlds.js';

/** Behind the global `fetch` by MSW, as users have it, or in memory, which is ten times as fast. */
export type Path = 'msw' | 'memory';

/** A messaging service of a world, and a client that is told nothing about it. */
export function messagingScene(
  world: World,
  path: Path,
  { MessagingClient }: Pick<typeof client, 'MessagingClient'> = client,
): MessagingScene {
  const fake = createFakeMessaging({ behavior: world });
  const messaging = new MessagingClient({
    ...fake.options,
    rateLimit: false,
    // MSW copies every answer and lets nobody hear of the copy of a broken one.
    ...(path === 'msw' && !isBroken(world) && { fetch: intercepted(fake) }),
  });
  return { fake, messaging, world: fake.settings };
}

/** A media service of a world, in memory: waits make many requests. */
export function mediaScene(world: World): MediaScene {
  const fake = createFakeMedia({ behavior: world });
  return { fake, media: new client.MediaClient(fake.options), world: fake.settings };
}

const isBroken = ({ errorShape }: World) => errorShape === 'cut';
