import { MediaClient, MessagingClient } from 'postreel';
import {
  createFakeMedia,
  createFakeMessaging,
  type MediaBehavior,
  type MessagingBehavior,
} from 'postreel/testing';
import type { MediaScene, MessagingScene } from './law.js';

/** A messaging service of a world, and a client that does not know the world. */
export function messagingScene(world: Partial<MessagingBehavior>): MessagingScene {
  const fake = createFakeMessaging({ behavior: world });
  const messaging = new MessagingClient({ ...fake.options, rateLimit: false });
  return { fake, messaging, world: fake.settings };
}

/** The same for media. */
export function mediaScene(world: Partial<MediaBehavior>): MediaScene {
  const fake = createFakeMedia({ behavior: world });
  return { fake, media: new MediaClient(fake.options), world: fake.settings };
}
