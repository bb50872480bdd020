/** What becomes of a request: it is answered, or this says otherwise. */
export type Fate = (request: {
  readonly count: number;
  readonly signal: AbortSignal | undefined;
  /** Lets the service act and answers as usual. */
  readonly act: () => Response;
}) => Response | Promise<Response>;

/** A messaging service that only notes which rows reached it, and takes them all. */
export function manyService(fate: Fate = ({ act }) => act()) {
  /** Each row that the service has acted on, as often as it did: an id or an address. */
  const acted: string[] = [];
  /** The signals of the requests, in their order. */
  const signals: (AbortSignal | undefined)[] = [];
  let count = 0;
  const fetch = async (input: string | URL | Request, init?: RequestInit): Promise<Response> => {
    const request = new Request(input, { ...init, signal: null });
    const { pathname } = new URL(request.url);
    const rows = request.method === 'POST' ? await rowsOf(pathname, request) : [];
    const act = () => {
      acted.push(...rows);
      return answerTo(pathname, rows);
    };
    // Only what changes something has a fate: looks at jobs go well.
    if (request.method !== 'POST') {
      return act();
    }
    const signal = init?.signal ?? undefined;
    signals.push(signal);
    return abortable(Promise.resolve(fate({ count: count++, signal, act })), signal);
  };
  return { fetch, acted, signals };
}

async function rowsOf(path: string, request: Request): Promise<string[]> {
  if (path === '/contacts/import') {
    const file = (await request.formData()).get('file') as File; // as the document names it
    const [head = '', ...lines] = (await file.text()).trim().split('\n');
    const column = head.trim().replaceAll('"', '').split(',').indexOf('email');
    return lines.map((line) => line.trim().replaceAll('"', '').split(',')[column] ?? '');
  }
  const body = (await request.json()) as {
    contactIds?: string[];
    emails?: string[];
    email?: string;
    to?: string | { email: string };
  };
  const { contactIds, emails, email, to } = body;
  const one = email ?? (typeof to === 'object' ? to.email : to);
  return contactIds ?? emails ?? (one === undefined ? [] : [one]);
}

function answerTo(path: string, rows: readonly string[]): Response {
  if (path === '/v1/send') {
    return Response.json({ success: true, data: { emails: [{ email: 'em_1' }] } });
  }
  if (path === '/contacts/lookup') {
    return Response.json({ data: { existing: rows, missing: [] } });
  }
  return Response.json({ jobId: 'job_1', status: 'completed', valid: true, email: rows[0] });
}

// As `fetch` does, whatever the reason.
function abortable(answer: Promise<Response>, signal: AbortSignal | undefined): Promise<Response> {
  return new Promise((resolve, reject) => {
    // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors -- as `fetch` does
    const leave = () => reject(signal?.reason);
    if (signal?.aborted) {
      leave();
    }
    signal?.addEventListener('abort', leave, { once: true });
    answer.then(resolve, reject);
  });
}
