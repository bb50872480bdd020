import type { FakeServer, RecordedRequest } from 'postreel/testing';

/** The maximum number of rows that the page shows of a table. */
const maxRows = 200;

/** The text of the response to each request. */
export type Answers = WeakMap<RecordedRequest, string>;

type PageRow = object;

/**
 * The content of the web page: the newest rows of one table that contain a text, and the total number of
 * rows.
 */
export function stateOf(
  server: FakeServer,
  answers: Answers,
  { table, filter }: { readonly table: string; readonly filter: string },
): object {
  const { messaging, media } = server;
  const tables = tablesOf(server, answers);
  const wanted = filter.trim().toLowerCase();
  const rows = (tables[table] ?? []).filter((row) => wanted === '' || hasText(row, wanted));
  return {
    now: messaging.clock.now(),
    aheadMs: messaging.clock.now() - Date.now(),
    endpoints: { messaging: messaging.endpoints, media: media.endpoints },
    counts: Object.fromEntries(Object.entries(tables).map(([name, all]) => [name, all.length])),
    found: rows.length,
    rows: rows.slice(-maxRows).reverse(),
  };
}

/** Every table, oldest first. */
function tablesOf(
  { messaging, media }: FakeServer,
  answers: Answers,
): Readonly<Record<string, readonly PageRow[]>> {
  const { project } = messaging;
  const contacts = [...project.contacts.values()];
  const emails = new Map(contacts.map(({ id, email }) => [id, email]));
  const addEmail = <T extends { readonly contactId: string }>(row: T) => ({
    ...row,
    email: emails.get(row.contactId),
  });
  return {
    requests: [
      ...messaging.requests.map((request) => shown(request, 'messaging', answers)),
      ...media.requests.map((request) => shown(request, 'media', answers)),
    ].sort((one, other) => one.at - other.at),
    outbox: messaging.outbox.map((email) => ({ ...email })),
    contacts,
    events: project.events.map(addEmail),
    campaigns: [...project.campaigns.values()],
    executions: [...project.workflows.values()].flatMap(({ name, steps, executions }) =>
      [...executions.values()].map((execution) => ({
        ...addEmail(execution),
        workflow: name,
        step: steps.get(execution.currentStepId ?? '')?.name ?? execution.currentStepId,
      })),
    ),
    jobs: media.files.map((file) => ({ ...file, status: file.status })),
  };
}

function shown(request: RecordedRequest, service: string, answers: Answers) {
  const { method, path, status, at, body } = request;
  const asked = body instanceof FormData ? 'a form' : body;
  return { service, method, path, status, at, body: asked, answer: answers.get(request) };
}

function hasText(row: PageRow, wanted: string): boolean {
  const texts = Object.values(row).map((value: unknown) =>
    typeof value === 'string' ? value : JSON.stringify(value),
  );
  return texts.join(' ').toLowerCase().includes(wanted);
}
