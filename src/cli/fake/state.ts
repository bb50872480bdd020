import type { FakeServer, RecordedRequest } from 'postreel/testing';

/** The most rows of each table: the page is for looking, not for exports. */
const maxRows = 200;

/** The text of the answer to each request. */
export type Answers = WeakMap<RecordedRequest, string>;

/** What the web page shows, newest first. */
export function stateOf({ messaging, media }: FakeServer, answers: Answers): object {
  const { project } = messaging;
  const emails = new Map([...project.contacts.values()].map(({ id, email }) => [id, email]));
  return {
    now: messaging.clock.date(),
    endpoints: { messaging: messaging.endpoints, media: media.endpoints },
    requests: newest(messaging.requests)
      .map((request) => shown(request, 'messaging', answers))
      .concat(newest(media.requests).map((request) => shown(request, 'media', answers)))
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

function shown(request: RecordedRequest, service: string, answers: Answers) {
  const { method, path, status, at, body } = request;
  const asked = body instanceof FormData ? 'a form' : body;
  return { service, method, path, status, at, body: asked, answer: answers.get(request) };
}

function newest<T>(list: readonly T[]): T[] {
  return list.slice(-maxRows).reverse();
}
