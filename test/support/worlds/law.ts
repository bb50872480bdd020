import type { MediaClient, MessagingClient } from 'postreel';
import type { FakeMedia, FakeMessaging, MediaBehavior, MessagingBehavior } from 'postreel/testing';

/** The laws of every world: effect, outcome, ids, order, nothing lost. */
export interface Law<Scene> {
  readonly name: string;
  readonly holds: (scene: Scene) => Promise<void>;
}

/** A messaging service of some world, and a client that knows nothing about that world. */
export interface MessagingScene {
  readonly fake: FakeMessaging;
  readonly messaging: MessagingClient;
  readonly world: MessagingBehavior;
}

/** The same for media. */
export interface MediaScene {
  readonly fake: FakeMedia;
  readonly media: MediaClient;
  readonly world: MediaBehavior;
}

/** Laws with their whole names, for a table of tests. */
export const named = <Scene>(laws: readonly Law<Scene>[]) =>
  laws.map((law) => [law.name, law] as const);
