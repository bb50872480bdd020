import type { FakeMedia } from 'postreel/testing';

/** The smallest video job, from a topic. */
export const idea = {
  workflowType: 'idea',
  workflowFormat: 'video',
  prompt: 'Bees',
  voiceId: 'voice_1',
};

/** The smallest video job, from a text. */
export const script = {
  workflowType: 'script',
  workflowFormat: 'video',
  content: 'Bees fly.',
  voiceId: 'voice_1',
};

/** The smallest audio request. */
export const speech = { content: 'Bees fly.', voiceId: 'voice_1' };

/** The fields of responses that later steps of the tests use. */
interface Body {
  status?: string;
  progress?: number;
  data?: { filesCreated?: string[] };
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Body | string;
}

export async function call(
  fake: FakeMedia,
  path: string,
  init: { body?: unknown; key?: string } = {},
): Promise<Answer> {
  const response = await fake.fetch(fake.baseUrl + path, {
    method: 'body' in init ? 'POST' : 'GET',
    headers: {
      authorization: `Bearer ${init.key ?? fake.apiKey}`,
      'content-type': 'application/json',
    },
    ...('body' in init ? { body: JSON.stringify(init.body) } : {}),
  });
  const text = await response.text();
  const isJson = response.headers.get('content-type') === 'application/json';
  const body = isJson ? (JSON.parse(text) as Body) : text; // as: each test checks what it needs
  return { status: response.status, headers: response.headers, body };
}

export const video = (fake: FakeMedia, body: unknown) => call(fake, '/v1/generate/video', { body });

/** A video request of these jobs. */
export const videos = (fake: FakeMedia, ...payload: unknown[]) => video(fake, { payload });

export const audio = (fake: FakeMedia, body: unknown) => call(fake, '/v1/generate/audio', { body });

export const status = (fake: FakeMedia, fileId: string) =>
  call(fake, `/v1/generate/status?fileId=${encodeURIComponent(fileId)}`);

/** The status record of a file. */
export async function record(fake: FakeMedia, fileId = 'file_000001'): Promise<Body> {
  const { body } = await status(fake, fileId);
  return typeof body === 'string' ? {} : body;
}

/** The ids of the files that a video request created. */
export function created({ body }: Answer): string[] {
  return (typeof body === 'string' ? undefined : body.data?.filesCreated) ?? [];
}
