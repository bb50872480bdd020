// Makes many calls of six kinds, each under a key, while another process makes the same calls, and
// prints the result of each call. A test kills it several times.
import { isPostreelError, MediaClient, MessagingClient, type JournalStore } from 'postreel';

const [, , address = '', list = '{}'] = process.argv;
const { counts, campaigns, contacts, workflow, seed } = JSON.parse(list) as {
  counts: Record<string, number>;
  campaigns: string[];
  contacts: string[];
  workflow: string;
  seed: number;
};
const atOnce = 8;

const journal = await openStore(address);
const rateLimit = { limit: 1_000_000, windowMs: 60_000 };
const messaging = new MessagingClient({ journal, rateLimit });
const media = new MediaClient({ journal, rateLimit: { ...rateLimit, pending: 1_000 } });

const calls: Record<string, (n: number, once: string) => Promise<unknown>> = {
  send: async (n, once) => {
    const mail = { from: 'a@example.com', to: `s${n}@example.com`, body: 'Hi' };
    const { emails } = await messaging.send({ ...mail, subject: once }, { once });
    return emails[0]?.email;
  },
  track: (n, once) =>
    messaging.track({ email: `t${n}@example.com`, event: 'paid', data: { once } }, { once }),
  campaign: (n, once) => messaging.campaigns.sendNow(campaigns[n] ?? '', { once }),
  execution: (n, once) => {
    const contactId = contacts[n] ?? '';
    return messaging.workflows.executions.start(workflow, { contactId }, { once });
  },
  template: async (_, once) => {
    const text = { subject: 'Hi', body: 'Hi', type: 'MARKETING' } as const;
    return (await messaging.templates.create({ name: once, ...text }, { once })).id;
  },
  video: async (_, once) => {
    const job = { workflowType: 'idea', workflowFormat: 'video', voiceId: 'voice_1' } as const;
    return (await media.generate.video({ ...job, prompt: once }, { once })).fileId;
  },
};

const todo = Object.entries(counts).flatMap(([kind, count]) =>
  Array.from({ length: count }, (_, n) => ({ kind, n, once: `${kind}/${n}` })),
);
shuffle(todo);
const results: Record<string, { value?: unknown; code?: string; message?: string }> = {};
const worker = async () => {
  for (let one = todo.pop(); one; one = todo.pop()) {
    const { kind, n, once } = one;
    results[once] = await (calls[kind]?.(n, once) ?? Promise.reject(new Error(kind))).then(
      (value) => ({ value: value ?? null }),
      (error: unknown) => ({
        code: isPostreelError(error) ? error.code : 'none',
        message: String(error),
      }),
    );
  }
};
await Promise.all(Array.from({ length: atOnce }, worker));
process.stdout.write(JSON.stringify(results), () => process.exit());

// Imports only the store in use: a process that is killed 30 times starts 30 times.
async function openStore(where: string): Promise<JournalStore> {
  if (where.startsWith('redis:')) {
    const [{ Redis }, { redisJournal }] = await Promise.all([
      import('ioredis'),
      import('postreel/redis'),
    ]);
    return redisJournal(new Redis(where), { prefix: 'kills' });
  }
  if (where.startsWith('postgres:')) {
    const [{ Pool }, { postgresJournal }] = await Promise.all([
      import('pg'),
      import('postreel/postgres'),
    ]);
    return postgresJournal(new Pool({ connectionString: where, max: atOnce }), { name: 'kills' });
  }
  return (await import('postreel/node')).fileJournal(where);
}

function shuffle(items: unknown[]): void {
  let state = seed;
  for (let place = items.length - 1; place > 0; place--) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    const other = Math.floor((state / 2 ** 32) * (place + 1));
    [items[place], items[other]] = [items[other], items[place]];
  }
}
