import type { Call, MediaClient, MessagingClient } from 'postreel';
import type { FakeMedia, FakeMessaging } from 'postreel/testing';

/** One call whose effect, if it has one, is distinct from every other effect. */
export interface ChaosCall {
  readonly kind: string;
  readonly call: Call<unknown>;
  /** The name of its effect in the service's records; `undefined` for a read. */
  readonly effect: string | undefined;
}

export interface Clients {
  readonly messaging: MessagingClient;
  readonly media: MediaClient;
}

type Kind = (clients: Clients, id: string, signal: AbortSignal | undefined) => Call<unknown>;

const from = 'shop@example.com';

/** Calls that must happen at most once, whatever the network does. */
const once: Record<string, Kind> = {
  send: ({ messaging }, id, signal) =>
    messaging.send({ from, to: 'ann@example.com', subject: id, body: 'Hi' }, { signal }),
  sendMany: ({ messaging }, id, signal) =>
    messaging.send(
      { from, to: ['ann@example.com', 'bea@example.com'], subject: id, body: 'Hi' },
      { signal },
    ),
  track: ({ messaging }, id, signal) =>
    messaging.track({ email: 'ann@example.com', event: id }, { signal }),
  template: ({ messaging }, id, signal) =>
    messaging.templates.create(
      { name: id, subject: 'Hi', body: 'Hi', type: 'TRANSACTIONAL' },
      { signal },
    ),
  audio: ({ media }, id, signal) =>
    media.generate.audio({ content: id, voiceId: 'voice_1' }, { signal }),
};

/** Calls that may be repeated, because only the last state counts. */
const repeatable: Record<string, Kind> = {
  upsert: ({ messaging }, id, signal) =>
    messaging.contacts.create({ email: `${id}@example.com`, subscribed: false }, { signal }),
  bulk: ({ messaging }, _, signal) =>
    messaging.contacts.bulkUnsubscribe({ contactIds: ['con_none'] }, { signal }),
};

const reads: Record<string, Kind> = {
  verify: ({ messaging }, id, signal) =>
    messaging.verify({ email: `${id}@example.com` }, { signal }),
  lookup: ({ messaging }, id, signal) =>
    messaging.contacts.lookup({ emails: [`${id}@example.com`] }, { signal }),
  config: ({ messaging }, _, signal) => messaging.config.get({ signal }),
  names: ({ messaging }, _, signal) => messaging.events.names({ signal }),
};

const kinds = Object.entries({ ...once, ...repeatable, ...reads });

/** Starts the call with this number. */
export function startCall(clients: Clients, number: number, signal?: AbortSignal): ChaosCall {
  const [kind, start] = kinds[number % kinds.length] as [string, Kind]; // as: the index is in range
  const id = `${kind.toLowerCase()}-${number}`;
  return { kind, call: start(clients, id, signal), effect: kind in reads ? undefined : id };
}

/** How often each effect happened, by the services' records. */
export function countEffects(fake: FakeMessaging, fakeMedia: FakeMedia): Map<string, number> {
  const counts = new Map<string, number>();
  const add = (name: string) => counts.set(name, (counts.get(name) ?? 0) + 1);
  // A mail to two recipients is one effect, but two entries in the outbox.
  for (const { subject, to } of fake.outbox) {
    add(to === 'bea@example.com' ? `${subject} bea` : subject);
  }
  for (const { name } of fake.project.events) {
    add(name);
  }
  for (const { name } of fake.project.templates.values()) {
    add(name);
  }
  for (const { email } of fake.project.contacts.values()) {
    add(email.replace(/@.*/, ''));
  }
  for (const { settings } of fakeMedia.files) {
    add(String(settings['content']));
  }
  return counts;
}
