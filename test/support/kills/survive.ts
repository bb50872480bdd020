import { spawn } from 'node:child_process';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { startFakeServer, type FakeServer } from 'postreel/testing';
import { Random } from '../media/model/random.js';
import { endOf, type ProcessEnd } from '../node/process-end.js';

/** A journal that two processes share, and the number of their jobs. */
export interface KillScenario {
  readonly journal: 'file' | 'redis' | 'postgres';
  /** A path or an address. */
  readonly at: string;
  readonly jobs: number;
  readonly kills: number;
}

/** The result of a run. */
export interface Outcome {
  /** How often a process was killed, by the moment. */
  readonly kills: Readonly<Record<Moment, number>>;
  /** Jobs that were made more than once. */
  readonly twice: readonly string[];
  /** Jobs that were made, and have neither a file nor an unknown outcome in the results. */
  readonly lost: readonly string[];
  readonly made: number;
  readonly unknown: number;
  /** Results of the last runs that contradict the service. */
  readonly wrong: readonly string[];
}

/**
 * When a process is killed: at its start, right before a paid call is sent, right after its answer
 * came, or at any time.
 */
type Moment = 'start' | 'before' | 'after' | 'any';

interface Result {
  readonly index: number;
  readonly text: string;
  readonly fileId?: string;
  readonly isMade: boolean;
  readonly code?: string;
  readonly message?: string;
}

/** Kills two processes that work side by side many times, then lets both finish. */
export async function survive(story: KillScenario): Promise<Outcome> {
  const random = new Random(story.kills);
  const server = await startFakeServer({
    media: {
      rateLimit: false,
      pendingLimit: 1_000,
      queueTime: 10,
      durations: () => 20 + random.next() * 60,
    },
  });
  const control = await startControl();
  const run = (kill?: Kill) => start(story, server, control, kill);
  const kills = { start: 0, before: 0, after: 0, any: 0 };
  // Half of the kills happen at the critical moments.
  const plan = random.shuffled(
    Array.from({ length: story.kills }, (_, index): Moment =>
      index % 2 === 1 ? 'any' : index % 4 === 0 ? 'before' : 'after',
    ),
  );
  const runUntilDone = async () => {
    for (let next = plan.pop(); next; next = plan.pop()) {
      // A kill at a critical moment uses up a job: with few jobs left, kill at the start instead.
      const isScarce = story.jobs - server.media.files.length <= plan.length / 2 + 4;
      const moment = next === 'any' && isScarce ? 'start' : next;
      const { signal, code, output } = await run({ moment, afterMs: random.next() * 150 });
      if (signal === 'SIGKILL') {
        kills[moment]++;
      } else if (code !== 0) {
        throw new Error(output);
      }
    }
  };
  try {
    await Promise.all([runUntilDone(), runUntilDone()]);
    const ends = await Promise.all([run(), run()]);
    const reports = ends.map(({ code, output }) => {
      if (code !== 0) {
        throw new Error(output);
      }
      return JSON.parse(output) as Result[];
    });
    return { kills, ...sumUp(story, reports, server) };
  } finally {
    await control.close();
    await server.close();
  }
}

function sumUp(
  { jobs }: KillScenario,
  reports: readonly (readonly Result[])[],
  { media }: FakeServer,
): Omit<Outcome, 'kills'> {
  const made = new Map<string, string[]>();
  for (const { fileId, settings } of media.files) {
    const text = String(settings['content']);
    made.set(text, [...(made.get(text) ?? []), fileId]);
  }
  const results = reports.flat();
  const isKnown = ([text, fileIds]: readonly [string, readonly string[]]) =>
    results.some(
      ({ text: own, fileId = '', code }) =>
        own === text && (fileIds.includes(fileId) || code === 'OUTCOME_UNKNOWN'),
    );
  const isRight = ({ text, fileId, isMade, code }: Result) =>
    isMade ? made.get(text)?.[0] === fileId : code === 'OUTCOME_UNKNOWN';
  return {
    twice: [...made].filter(([, fileIds]) => fileIds.length > 1).map(([text]) => text),
    lost: [...made].filter((one) => !isKnown(one)).map(([text]) => text),
    made: new Set(results.filter(({ isMade }) => isMade).map(({ text }) => text)).size,
    unknown: new Set(
      reports
        .at(-1)
        ?.filter(({ isMade }) => !isMade)
        .map(({ text }) => text),
    ).size,
    wrong: [
      ...results.filter((one) => !isRight(one)).map((one) => JSON.stringify(one)),
      ...reports
        .filter((report) => new Set(report.map(({ index }) => index)).size !== jobs)
        .map((report) => `${report.length} results of ${jobs}`),
    ],
  };
}

// ---- processes

interface Kill {
  readonly moment: Moment;
  /** The delay after the process's start, for a kill at any time. */
  readonly afterMs: number;
}

interface Control {
  readonly url: string;
  /** Called when a process reaches a moment; returns true to let it continue. */
  readonly processes: Map<string, (moment: string) => boolean>;
  close(): Promise<void>;
}

/** Each process reports its moments to this server, and continues when it is answered. */
async function startControl(): Promise<Control> {
  const processes = new Map<string, (moment: string) => boolean>();
  const server = createServer(({ url = '' }, response) => {
    const [, id = '', moment = ''] = url.split('/');
    if (processes.get(id)?.(moment)) {
      response.end('go on');
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo; // as: it listens on a port
  return {
    url: `http://127.0.0.1:${port}`,
    processes,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

let ids = 0;

function start(
  { journal, at, jobs }: KillScenario,
  { media, mediaUrl }: FakeServer,
  control: Control,
  kill: Kill | undefined,
): Promise<ProcessEnd> {
  const id = String(++ids);
  const command = [
    ...['--import', './test/support/node/fast-clock.mjs'],
    ...['test/support/kills/child.mjs', journal, at, String(jobs)],
  ];
  const env = {
    MEDIA_BASE_URL: mediaUrl,
    MEDIA_API_KEY: media.apiKey,
    CONTROL_URL: `${control.url}/${id}`,
    SPEED: '200',
  };
  const child = spawn(process.execPath, command, { env: { ...process.env, ...env } });
  control.processes.set(id, (moment) => {
    if (moment === kill?.moment) {
      child.kill('SIGKILL');
      return false;
    }
    if (moment === 'start' && kill?.moment === 'any') {
      setTimeout(() => child.kill('SIGKILL'), kill.afterMs);
    }
    return true;
  });
  return endOf(child);
}
