import type { FakeServer } from 'postreel/testing';

/** The most rows of each table: the page is for looking, not for exports. */
const maxRows = 200;

/** What the web page shows, newest first. */
export function stateOf({ messaging, media }: FakeServer): object {
  const { project } = messaging;
  const emails = new Map([...project.contacts.values()].map(({ id, email }) => [id, email]));
  return {
    now: messaging.clock.date(),
    endpoints: { messaging: messaging.endpoints, media: media.endpoints },
    requests: requestsOf(messaging, 'messaging')
      .concat(requestsOf(media, 'media'))
      .sort((one, other) => other.at - one.at)
      .slice(0, maxRows),
    outbox: newest(messaging.outbox),
    contacts: newest([...project.contacts.values()]),
    events: newest(project.events).map((event) => ({
      ...event,
      email: emails.get(event.contactId),
    })),
    campaigns: newest([...project.campaigns.values()]),
    jobs: newest(media.files).map((file) => ({ ...file, status: file.status })),
  };
}

function requestsOf({ requests }: FakeServer['messaging'] | FakeServer['media'], service: string) {
  return newest(requests).map(({ method, path, status, at, body }) => {
    return { service, method, path, status, at, body: body instanceof FormData ? 'a form' : body };
  });
}

function newest<T>(list: readonly T[]): T[] {
  return list.slice(-maxRows).reverse();
}
