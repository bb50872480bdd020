// One entry per client: how it gets one record and a page of a hundred. Each is set up as its
// documentation shows, with its defaults; a client is loaded only when its turn comes.
const key = 'sk_bench';
const headers = { authorization: `Bearer ${key}` };
const record = '/contacts/con_1';
const page = '/contacts?limit=100';

/** @type {Record<string, (url: string) => Promise<{ record(): unknown, page(): unknown }>>} */
export const clients = {
  fetch: async (url) => byPath(async (path) => (await fetch(url + path, { headers })).json()),

  // The timeout that most people add.
  'fetch with a timeout': async (url) => {
    return byPath(async (path) => {
      const controller = new AbortController();
      const timer = setTimeout(() => controller.abort(), 30_000);
      try {
        return await (await fetch(url + path, { headers, signal: controller.signal })).json();
      } finally {
        clearTimeout(timer);
      }
    });
  },

  'undici.request': async (url) => {
    const { request } = await import('undici');
    return byPath(async (path) => (await request(url + path, { headers })).body.json());
  },

  ky: async (url) => {
    const { default: ky } = await import('ky');
    return byPath((path) => ky(url + path, { headers }).json());
  },

  axios: async (url) => {
    const { default: axios } = await import('axios');
    const client = axios.create({ baseURL: url, headers });
    return byPath(async (path) => (await client.get(path)).data);
  },

  ofetch: async (url) => {
    const { ofetch } = await import('ofetch');
    const client = ofetch.create({ baseURL: url, headers });
    return byPath((path) => client(path));
  },

  openai: async (url) => {
    const { default: OpenAI } = await import('openai');
    const client = new OpenAI({ apiKey: key, baseURL: url });
    return byPath((path) => client.get(path));
  },

  '@anthropic-ai/sdk': async (url) => {
    const { default: Anthropic } = await import('@anthropic-ai/sdk');
    const client = new Anthropic({ apiKey: key, baseURL: url });
    return byPath((path) => client.get(path));
  },

  resend: async (url) => {
    process.env.RESEND_BASE_URL = url; // read when the module loads
    const { Resend } = await import('resend');
    const client = new Resend(key);
    return byPath(async (path) => (await client.get(path)).data);
  },

  stripe: async (url) => {
    const { default: Stripe } = await import('stripe');
    const { hostname, port } = new URL(url);
    const client = new Stripe(key, { host: hostname, port, protocol: 'http', telemetry: false });
    return byPath((path) => client.rawRequest('GET', path));
  },

  '@octokit/request': async (url) => {
    const { request } = await import('@octokit/request');
    const client = request.defaults({ baseUrl: url, headers });
    return byPath(async (path) => (await client(`GET ${path}`)).data);
  },

  postreel: async (url) => callsOf(await postreel(url, {})),

  // Responses are checked only if a listener for differences exists.
  'postreel, answers checked': async (url) => callsOf(withListener(await postreel(url, {}))),
};

// With its defaults: checks of requests, the rate budget, retries, the timeout.
async function postreel(url, options) {
  const { MessagingClient } = await import('../../dist/esm/index.js');
  const rateLimit = { limit: 1_000_000_000 };
  return new MessagingClient({ apiKey: key, baseUrl: url, rateLimit, ...options });
}

function withListener(client) {
  client.on('mismatch', console.error);
  return client;
}

function callsOf(client) {
  return {
    record: () => client.contacts.get('con_1'),
    page: () => client.contacts.list({ limit: 100 }),
  };
}

function byPath(get) {
  return { record: () => get(record), page: () => get(page) };
}
