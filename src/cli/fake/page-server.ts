import type { Fault, FakeServer, FakeServerOptions, Service } from 'postreel/testing';
import { page } from './page.js';
import { stateOf, type Answers } from './state.js';
import { messageOf } from '../../core/errors.js';

type PageResponse = Response | Promise<Response>;

/** A longer response is cut, because the page is only for looking. */
const maxCharacters = 20_000;

/** Serves the web page of the fakes and its data, and keeps the responses that the page shows. */
export function createPage(
  running: () => FakeServer | undefined,
): Required<Pick<FakeServerOptions, 'page' | 'onAnswer'>> {
  const answers: Answers = new WeakMap();
  return {
    onAnswer: (request, text) => void answers.set(request, text.slice(0, maxCharacters)),
    page: async (request) => {
      const server = running();
      const { pathname } = new URL(request.url);
      const answer = routes[`${request.method} ${pathname}`];
      if (server === undefined || answer === undefined) {
        return undefined;
      }
      try {
        return await answer(server, request, answers);
      } catch (error) {
        const message = messageOf(error);
        return Response.json({ error: message }, { status: 400 });
      }
    },
  };
}

type PageRoute = (server: FakeServer, request: Request, answers: Answers) => PageResponse;

const routes: Readonly<Record<string, PageRoute>> = {
  'GET /': () => new Response(page, { headers: pageHeaders }),
  'GET /state': (server, { url }, answers) => {
    const { searchParams } = new URL(url);
    const [table = '', filter = ''] = ['table', 'filter'].map(
      (name) => searchParams.get(name) ?? '',
    );
    return Response.json(stateOf(server, answers, { table, filter }));
  },
  'POST /faults': async (server, request) => {
    const { service, endpoint, fault } = (await readJson(request)) as FaultRequest;
    serviceOf(server, service).fail(endpoint, fault);
    return Response.json({});
  },
  'POST /faults/clear': (server) => {
    server.messaging.faults.clear();
    server.media.faults.clear();
    return Response.json({});
  },
  'POST /clock': async (server, request) => {
    const { duration } = (await readJson(request)) as { duration: string };
    // Both fakes of the command share one clock.
    await server.messaging.advance(duration);
    return Response.json({});
  },
};

// Emails are shown in a frame without scripts. Only their images are loaded from other hosts.
const pageHeaders = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy':
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; connect-src 'self'; img-src * data:; frame-src 'self'",
};

interface FaultRequest {
  readonly service: 'messaging' | 'media';
  readonly endpoint: Parameters<Service['fail']>[0];
  readonly fault: Fault;
}

/** Reads a JSON body. Rejects any other type, because a form of another site could send it. */
async function readJson(request: Request): Promise<unknown> {
  if (!request.headers.get('content-type')?.startsWith('application/json')) {
    throw new TypeError('Send JSON.');
  }
  return request.json();
}

function serviceOf(server: FakeServer, name: FaultRequest['service']): Service {
  return name === 'media' ? server.media : server.messaging;
}
