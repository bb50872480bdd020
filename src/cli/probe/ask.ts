/** Where a service is and what opens it; the key goes into one header and nowhere else. */
export interface Target {
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly fetch: typeof fetch;
}

/** What came back for one question. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  /** `undefined` when the body could not be read to its end. */
  readonly text: string | undefined;
  /** The body as JSON; `undefined` for any other. */
  readonly json: unknown;
  /** Did an earlier answer to the same question break off? */
  readonly wasCut: boolean;
}

/** How long a service may take for one answer. */
const timeoutMs = 30_000;

/** How often a question is put when its answer breaks off. */
const maxTries = 3;

/** Asks by `GET`, which changes nothing; an answer that breaks off is asked for again. */
export async function ask(target: Target, path: string, apiKey = target.apiKey): Promise<Answer> {
  for (let tries = 1; ; tries++) {
    const answer = await askOnce(target, path, apiKey);
    const isLost = answer.status < 300 && answer.text === undefined;
    if (!isLost || tries === maxTries) {
      return { ...answer, wasCut: tries > 1 };
    }
  }
}

async function askOnce(target: Target, path: string, apiKey: string): Promise<Answer> {
  const response = await target.fetch(target.baseUrl.replace(/\/+$/, '') + path, {
    headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
    signal: AbortSignal.timeout(timeoutMs),
    redirect: 'manual',
  });
  const text = await response.text().catch(() => undefined);
  return {
    status: response.status,
    headers: response.headers,
    text,
    json: parse(text),
    wasCut: false,
  };
}

/** The fields of an object; none for anything else. */
export function fieldsOf(value: unknown): Record<string, unknown> {
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  return isObject ? { ...value } : {};
}

/** Is this a refusal, by its status or its body? */
export function isRefusal({ status, json }: Answer): boolean {
  return status >= 300 || fieldsOf(json)['success'] === false;
}

/** The status of a refusal; with HTTP 200 it is in the body. */
export function statusOf({ status, json }: Answer): number {
  const inBody = fieldsOf(fieldsOf(json)['error'])['statusCode'];
  return status < 300 && typeof inBody === 'number' ? inBody : status;
}

/** What is inside the envelope, if there is one. */
export function inside(value: unknown): unknown {
  const fields = fieldsOf(value);
  return fields['success'] === true && 'data' in fields ? fields['data'] : value;
}

/** The items of a list in any shape, and the name they stand under. */
export function itemsOf(value: unknown): { name: string; items: Record<string, unknown>[] } {
  const list = inside(value);
  if (Array.isArray(list)) {
    return { name: '', items: list.map(fieldsOf) };
  }
  const found = Object.entries(fieldsOf(list)).find(([, part]) => Array.isArray(part));
  const [name, items] = found ?? ['none', []];
  return { name, items: Array.isArray(items) ? items.map(fieldsOf) : [] };
}

function parse(text: string | undefined): unknown {
  try {
    return text === undefined ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}
