import { expect } from 'vitest';
import type { MessagingClient } from 'postreel';
import type { FakeMessaging } from 'postreel/testing';

/** The silent behaviour of the service, and how the client protects people from it. */
export interface Trap {
  readonly name: string;
  /** A line that falls into the trap, and does not compile. */
  readonly wrong: string;
  /** The line to write in its place. */
  readonly right: string;
  /** Falls into it, without the checks of the client: what the service does is asserted. */
  readonly service: (scene: Scene) => Promise<void>;
  /** Asserts the behaviour of the client. */
  readonly client: (scene: Scene) => Promise<void>;
}

export interface Scene {
  readonly fake: FakeMessaging;
  readonly messaging: MessagingClient;
  /** Every warning so far. */
  readonly warnings: readonly string[];
}

export const email = 'ann@example.com';
export const content = { subject: 'Hi', body: '<p>Hi</p>', from: 'shop@example.com' };

/** A call that no method and no check of the client has a part in. */
export async function plainly(
  { messaging }: Scene,
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE',
  path: string,
  body?: unknown,
): Promise<Record<string, unknown>> {
  const answer = await messaging.request(method, path, body === undefined ? {} : { body });
  return (answer ?? {}) as Record<string, unknown>; // an object, or nothing
}

export async function contactWith({ messaging }: Scene, data: object): Promise<string> {
  const { id } = await messaging.contacts.create({ email, data: { ...data } });
  return id;
}

export const dataOf = ({ fake }: Scene): unknown =>
  [...fake.project.contacts.values()].find((contact) => contact.email === email)?.data;

export async function campaignOf(scene: Scene): Promise<string> {
  const body = {
    name: 'Spring',
    description: 'Of March',
    audienceType: 'ALL',
    ...content,
  } as const;
  await scene.messaging.contacts.create({ email });
  const { id } = await scene.messaging.campaigns.create(body);
  return id;
}

export const mailed = ({ fake }: Scene): string[] => fake.outbox.map(({ to }) => to);

export const ids = (count: number): string[] =>
  Array.from({ length: count }, (_, index) => `con_${index}`);

/** The client refuses before the network. */
export async function refused(call: PromiseLike<unknown>, field: string): Promise<void> {
  await expect(call).rejects.toMatchObject({
    name: 'InvalidRequestError',
    outcome: 'not-sent',
    fieldErrors: [{ field }],
  });
}
