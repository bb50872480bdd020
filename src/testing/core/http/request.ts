import { Refusal } from './refusal.js';
import type { Match } from './router.js';
import type { FakeRequest } from '../types.js';

/** A request that was read, and what was wrong with its body. */
export interface Incoming {
  readonly request: FakeRequest;
  readonly problem: Refusal | undefined;
}

interface Body {
  readonly body: unknown;
  readonly form: FormData | undefined;
  readonly problem: Refusal | undefined;
}

/** Reads a request whole; a body that cannot be read is reported when its turn comes. */
export async function readRequest(
  request: Request,
  url: URL,
  { path, route }: { readonly path: string; readonly route: Match | undefined },
): Promise<Incoming> {
  const { body, form, problem } = request.body === null ? noBody : await readBody(request);
  return {
    problem,
    request: {
      method: request.method,
      path,
      params: route?.params ?? {},
      query: url.searchParams,
      headers: request.headers,
      body,
      form,
    },
  };
}

const noBody: Body = { body: undefined, form: undefined, problem: undefined };

async function readBody(request: Request): Promise<Body> {
  const type = request.headers.get('content-type') ?? '';
  if (type.startsWith('multipart/form-data')) {
    return readForm(request);
  }
  const text = await request.text();
  if (text === '') {
    return noBody;
  }
  // Bodies are JSON unless multipart is stated (messaging, Endpoints; media, Endpoints).
  if (!/^application\/([\w.-]+\+)?json\b/i.test(type)) {
    return malformed('Content-Type must be application/json.');
  }
  try {
    return { ...noBody, body: JSON.parse(text) };
  } catch {
    return malformed('The body is not valid JSON.');
  }
}

async function readForm(request: Request): Promise<Body> {
  try {
    return { ...noBody, form: await request.formData() };
  } catch {
    return malformed('The multipart body cannot be read.');
  }
}

/** 400: invalid parameters or malformed body (messaging, Errors). */
function malformed(message: string): Body {
  return { ...noBody, problem: new Refusal(400, 'BAD_REQUEST', message) };
}
