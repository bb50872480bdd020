import type { CallbackResponse } from './answer.js';

/** The request of node:http, Express or Fastify. */
export interface NodeRequest {
  readonly method?: string | undefined;
  readonly url?: string | undefined;
  /** The URL before a router removed its prefix (Express, Fastify). */
  readonly originalUrl?: string | undefined;
  /** The value that a body parser has made of the body. */
  readonly body?: unknown;
  /** True once the whole request has arrived (node:http, Express). */
  readonly complete?: boolean | undefined;
}

/** The response of node:http or Express. */
export interface NodeResponse {
  statusCode: number;
  readonly headersSent: boolean;
  /** Sets a header. */
  setHeader(name: string, value: string): unknown;
  /** Sends the answer. */
  end(text?: string): unknown;
}

/** The reply of Fastify. */
export interface NodeReply {
  readonly sent: boolean;
  /** Sets the status. */
  code(status: number): unknown;
  /** Sets a header. */
  header(name: string, value: string): unknown;
  /** Sends the answer. */
  send(text?: string): unknown;
}

/** The parts of a callback to a Node server. */
export function partsOf(request: NodeRequest) {
  const { method, originalUrl, url = '' } = request;
  return { method, url: originalUrl ?? url, body: bodyOf(request) };
}

/** Sends the response, unless something else (such as a timeout) has already responded. */
export function sendAnswer(
  request: NodeRequest,
  response: NodeResponse | NodeReply,
  answer: CallbackResponse,
): void {
  const { status, text } = answer;
  const headers = headersFor(request, answer);
  if ('code' in response) {
    if (response.sent) {
      return;
    }
    response.code(status);
    for (const [name, value] of Object.entries(headers)) {
      response.header(name, value);
    }
    response.send(text);
    return;
  }
  if (response.headersSent) {
    return;
  }
  response.statusCode = status;
  for (const [name, value] of Object.entries(headers)) {
    response.setHeader(name, value);
  }
  response.end(text);
}

// Close the connection of an incomplete request: Node would otherwise keep reading, and a rejected body may
// have no end.
function headersFor(
  { complete }: NodeRequest,
  { headers }: CallbackResponse,
): Record<string, string> {
  return complete === false ? { ...headers, connection: 'close' } : headers;
}

// A parser that ignored the body may still have set `{}` (Express 4).
function bodyOf(request: NodeRequest): unknown {
  const { body } = request;
  const isRead = 'readableEnded' in request ? request.readableEnded : true;
  const isEmpty = typeof body !== 'object' || body === null || Object.keys(body).length === 0;
  return isRead || !isEmpty || typeof body === 'string' ? body : request;
}
