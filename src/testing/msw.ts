// eslint-disable-next-line @typescript-eslint/ban-ts-comment -- msw is an optional peer: without it the type is `any`
/** @ts-ignore A request handler of MSW, which is an optional peer dependency. */
// eslint-disable-next-line @typescript-eslint/consistent-type-imports -- an import statement would fail without msw
export type MswHandler = import('msw').HttpHandler;

/** MSW handlers for everything below the base addresses; msw is loaded on first use. */
export async function mswHandlers(
  baseUrls: readonly string[],
  handle: (request: Request) => Promise<Response>,
): Promise<MswHandler[]> {
  const msw = await import('msw').catch(missing);
  const { http, HttpResponse } = 'http' in msw ? msw : missing(undefined); // version 1 has `rest`
  return baseUrls.map((baseUrl) =>
    http.all(below(baseUrl), async ({ request }) => {
      try {
        return await handle(request);
      } catch {
        // MSW turns a thrown error into a 500; a broken connection is a network error.
        return HttpResponse.error();
      }
    }),
  );
}

/** Throws an error with the remedy. The catch also lets bundlers continue if msw is not installed. */
function missing(cause: unknown): never {
  throw new Error('MSW handlers need msw 2 or later. Install it with `npm install -D msw`.', {
    cause,
  });
}

/** Use a regular expression: MSW would read `:4010` in a path as a parameter. */
function below(baseUrl: string): RegExp {
  return new RegExp(`^${baseUrl.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}(?:[/?#]|$)`);
}
