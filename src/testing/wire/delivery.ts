import { truncate } from '../core/http.js';
import type { SharedBehavior } from './answer.js';

type Behavior = SharedBehavior & { readonly errorShape: string };

/** How answers travel: the type they claim, the pieces they come in, and whether they arrive whole. */
export function delivery(settings: () => Behavior) {
  let reads = 0;
  return (response: Response, method: string): Response => {
    const behavior = settings();
    const isRead = response.ok && method === 'GET';
    reads += Number(isRead);
    const typed = withType(response, behavior.contentType);
    const isLost = isRead && behavior.cutAnswers === 'some-reads' && reads % 10 === 7;
    if (isLost || isCutRefusal(response, behavior)) {
      return truncate(typed);
    }
    return typed.body === null ? typed : bodies[behavior.delivery](typed, typed.body);
  };
}

function isCutRefusal({ ok, status }: Response, { errorShape }: Behavior): boolean {
  return errorShape === 'cut' && !ok && status !== 429;
}

/** The answer as `fetch` hands it out: unpacked, with the headers that came over the wire. */
export async function unpacked(response: Response): Promise<Response> {
  if (response.headers.get('content-encoding') !== 'gzip' || response.body === null) {
    return response;
  }
  const plain = response.body.pipeThrough(new DecompressionStream('gzip'));
  const { status, headers } = response;
  return new Response(await new Response(plain).arrayBuffer(), { status, headers });
}

type Body = ReadableStream<Uint8Array<ArrayBuffer>>;

const bodies = {
  whole: (response: Response) => response,
  chunked: (response: Response, body: Body) => rebuilt(withoutLength(response), inPieces(body, 0)),
  slow: (response: Response, body: Body) => rebuilt(withoutLength(response), inPieces(body, 2)),
  compressed(response: Response, body: Body) {
    const packed = rebuilt(
      withoutLength(response),
      body.pipeThrough(new CompressionStream('gzip')),
    );
    packed.headers.set('Content-Encoding', 'gzip');
    return packed;
  },
};

function withType(response: Response, style: SharedBehavior['contentType']): Response {
  if (response.headers.get('content-type') !== 'application/json' || style === 'json') {
    return response;
  }
  const type = types[style];
  if (type === undefined) {
    response.headers.delete('content-type');
  } else {
    response.headers.set('content-type', type);
  }
  return response;
}

const types: Readonly<Record<string, string | undefined>> = {
  charset: 'Application/JSON; Charset=UTF-8',
  vendor: 'application/vnd.service.v1+json',
  text: 'text/plain',
};

function withoutLength(response: Response): Response {
  response.headers.delete('content-length');
  return response;
}

function rebuilt(response: Response, body: ReadableStream): Response {
  const { status, headers } = response;
  return new Response(body, { status, headers });
}

/** In four pieces that respect no character; `pauseMs` apart on the network's own time. */
function inPieces(body: Body, pauseMs: number): ReadableStream {
  return body.pipeThrough(
    new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
      async transform(chunk, controller) {
        const size = Math.ceil(chunk.length / 4);
        for (let at = 0; at < chunk.length; at += size) {
          controller.enqueue(chunk.subarray(at, at + size));
          if (pauseMs > 0) {
            await new Promise((resolve) => setTimeout(resolve, pauseMs));
          }
        }
      },
    }),
  );
}
