import { Session } from 'node:inspector/promises';
import { MediaClient, MessagingClient } from '../../../src/index.js';

// Runs in a process of its own: prints the files of `src` whose functions ran during one call.
const answers: Readonly<Record<string, unknown>> = {
  '/contacts': {
    id: 'con_1',
    email: 'ann@example.com',
    data: {},
    subscribed: true,
    createdAt: '2030-01-01T00:00:00.000Z',
    updatedAt: '2030-01-01T00:00:00.000Z',
    _meta: { isNew: true, isUpdate: false },
  },
  '/v1/generate/video': { success: true, data: { filesCreated: ['file_1'], folderId: 'fol_1' } },
};

function fetch(input: string | URL | Request): Promise<Response> {
  const { pathname } = new URL(input instanceof Request ? input.url : String(input));
  return Promise.resolve(Response.json(answers[pathname], { headers: { 'x-request-id': 'r1' } }));
}

const trips: Readonly<Record<string, () => () => PromiseLike<unknown>>> = {
  'contacts.create': () => {
    const client = new MessagingClient({ apiKey: 'sk_trip', baseUrl: 'https://m.test', fetch });
    return () => client.contacts.create({ email: 'ann@example.com', data: { plan: 'pro' } });
  },
  'generate.video': () => {
    const client = new MediaClient({ apiKey: 'trip', baseUrl: 'https://m.test', fetch });
    const video = {
      workflowType: 'idea',
      workflowFormat: 'video',
      prompt: 'A day at sea',
      voiceId: 'voice_1',
    } as const;
    return () => client.generate.video({ payload: [video] });
  },
};

async function filesOf(call: () => PromiseLike<unknown>): Promise<string[]> {
  const session = new Session();
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  // The first call loads and builds what later ones find ready: the second is the trip.
  await call();
  await session.post('Profiler.takePreciseCoverage');
  await call();
  const { result } = await session.post('Profiler.takePreciseCoverage');
  return result
    .filter(({ url }) => url.includes('/src/'))
    .filter(({ functions }) =>
      functions.some(({ functionName, ranges }) => functionName !== '' && ranges[0]?.count),
    )
    .map(({ url }) => url.slice(url.lastIndexOf('/src/') + 5).replace(/\?.*/, ''))
    .sort();
}

const trip = trips[process.argv[2] ?? ''];
if (!trip) {
  throw new Error('Name a trip.');
}
console.log(JSON.stringify(await filesOf(trip())));
