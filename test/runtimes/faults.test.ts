import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { transform } from 'esbuild';
import { afterAll, beforeAll, describe, expect, it, type TestContext } from 'vitest';
import { installPackage, type Project } from '../support/package/installed.js';
import { authorityFile, faults, openFault, type FaultName } from '../support/runtimes/faults.js';
import type { Ending, Probe } from '../support/runtimes/probe.js';
import {
  argumentsOf,
  findRuntime,
  newest,
  oldest,
  type Runtime,
} from '../support/runtimes/runtimes.js';
import { startWorker } from '../support/runtimes/workerd.js';

type Family = Runtime['name'] | 'workerd';

/** The pattern of the error's message in each runtime. */
type Reason = { readonly [Name in Family]: RegExp };

interface Loss {
  readonly reason: Reason;
  /** Whether the request arrives. */
  readonly arrives: boolean;
  /** The runtimes whose error codes prove that nothing was sent. */
  readonly provenIn?: readonly Family[];
}

const in4 = (Node: RegExp, Bun: RegExp, Deno: RegExp, workerd: RegExp): Reason => ({
  Node,
  Bun,
  Deno,
  workerd,
});

// workerd has no error codes, and this message for every error.
const internal = /\(internal error; reference = \w+\)/;
const gone = /\(Network connection lost\.\)/;

/** A fault in which no connection opens. */
function notConnected(Node: RegExp, Bun: RegExp, Deno: RegExp, workerd: RegExp): Loss {
  const reason = in4(Node, Bun, Deno, workerd);
  return { reason, arrives: false, provenIn: ['Node', 'Bun', 'Deno'] };
}

/** A fault in which the request may have been sent, and no whole response comes. */
function maybeSent(Node: RegExp, Bun: RegExp, Deno: RegExp, workerd: RegExp = gone): Loss {
  return { reason: in4(Node, Bun, Deno, workerd), arrives: true };
}

const noName = /\((ENOTFOUND|EAI_AGAIN)\)/;
const refused = /\(ECONNREFUSED\)/;
const noRoute = /\(ENETUNREACH\)/;
const untrusted = /\(DEPTH_ZERO_SELF_SIGNED_CERT\)/;
const expired = /\(CERT_HAS_EXPIRED\)/;
const otherName = /\(ERR_TLS_CERT_ALTNAME_INVALID\)/;
const reset = /\(ECONNRESET\)/;
const closed = /\(other side closed\)/;
const resetByPeer = /\(Connection reset by peer \(os error \d+\)\)/;
const closedEarly = /\(connection closed before message completed\)/;
const badBody = /\(error reading a body from connection\)/;
const badZip = /\(unexpected end of file\)/;
const badStream = /\(Gzip compressed stream ended prematurely\.\)/;
// The connection ends as if the response were complete: only parsing its body shows that it is not.
const unnoticed = /response was complete\./;

const losses: Readonly<Partial<Record<FaultName, Loss>>> = {
  'the name is not found': notConnected(noName, noName, /\(dns error/, internal),
  'nothing listens': notConnected(refused, refused, /Connection refused/, gone),
  'no way there': notConnected(noRoute, noRoute, /Network is unreachable/, internal),
  'a port that fetch blocks': notConnected(/\(bad port\)/, refused, /to port 1 are blocked/, gone),
  'an unknown certificate': notConnected(untrusted, untrusted, /peer certificate/, internal),
  'an expired certificate': notConnected(expired, expired, /certificate expired/, internal),
  'a certificate of another name': notConnected(otherName, otherName, /not valid for/, internal),
  'the handshake is closed': {
    ...notConnected(reset, reset, /\(tls handshake eof\)/, internal),
    provenIn: ['Deno'],
  },
  'the handshake is reset': {
    ...notConnected(reset, reset, resetByPeer, internal),
    provenIn: ['Deno'],
  },
  'reset in the request': { ...maybeSent(reset, reset, resetByPeer), arrives: false },
  'closed before the answer': maybeSent(closed, reset, closedEarly),
  'reset before the answer': maybeSent(reset, reset, resetByPeer),
  'cut in the head': maybeSent(closed, reset, closedEarly),
  'cut in the body, which has a length': maybeSent(closed, reset, badBody),
  'cut in the body, in chunks': maybeSent(closed, reset, badBody),
  'cut in the body, until the end': maybeSent(unnoticed, unnoticed, unnoticed, unnoticed),
  'cut in the body, gzip in chunks': maybeSent(closed, reset, badBody),
  'cut in the body, gzip until the end': maybeSent(unnoticed, /\(ZlibError\)/, badZip, badStream),
  'no body, gzip until the end': maybeSent(unnoticed, unnoticed, badZip, badStream),
  'reset in the body': maybeSent(/\((ECONNRESET|other side closed)\)/, reset, badBody),
};

const tooLate: readonly FaultName[] = ['no answer in time', 'no end of the answer in time'];
const usedAgain: readonly FaultName[] = [
  'closed when it is used again',
  'reset when it is used again',
];

/** The result of one call, and how often its request arrived. */
interface Result extends Ending {
  readonly arrivals: number;
}
type Results = ReadonlyMap<string, Result>;
type Run = (probes: readonly Probe[]) => Promise<Ending[]>;

let project: Project;
beforeAll(async () => {
  project = await installPackage();
});
afterAll(() => project.remove());

const nodeOfTheTests: Runtime = { name: 'Node', version: process.versions.node };

describe.each<Runtime>([nodeOfTheTests, ...newest])('on $name $version', (runtime) => {
  everyFault(runtime.name, () => runOf(runtime));
});

describe('in workerd', () => {
  everyFault('workerd', () => Promise.resolve(runInWorker));
});

// The oldest versions have other messages for the same faults.
it.for(oldest)(
  'on $name $version no mail is sent twice, and no mail that may have been sent is reported as not sent',
  async (runtime, { skip }) => {
    const run = await runOf(runtime);
    const results = typeof run === 'string' ? skip(run) : await resultsOf(run);
    for (const [fault, { arrives, provenIn = [] }] of Object.entries(losses)) {
      const [mail, read] = [results.get(`send ${fault}`)!, results.get(`get ${fault}`)!];
      expect(mail.error?.name, fault).toBe('ConnectionError');
      expect([fault, mail.arrivals]).toEqual([fault, arrives ? 1 : 0]);
      if (arrives) {
        expect(mail.outcome, fault).toBe('unknown');
      } else if (provenIn.includes(runtime.name)) {
        expect(mail.outcome, fault).toBe('not-sent');
      }
      expect(read.error, fault).toBeDefined();
    }
  },
);

it('every fault is in a table', () => {
  const inTables = [...Object.keys(losses), ...tooLate, ...usedAgain, 'aborted before the answer'];
  expect(inTables.sort()).toEqual(Object.keys(faults).sort());
});

function everyFault(family: Family, find: () => Promise<Run | string>): void {
  let results: Results = new Map();
  let missing = '';
  beforeAll(async () => {
    const run = await find();
    if (typeof run === 'string') {
      missing = run;
    } else {
      results = await resultsOf(run);
    }
  });
  /** Makes a send and a read into the same fault. */
  const resultsFor = (fault: FaultName, { skip }: TestContext): [Result, Result] => {
    if (missing !== '') {
      skip(missing);
    }
    return [results.get(`send ${fault}`)!, results.get(`get ${fault}`)!]; // as: resultsOf() made every call
  };

  it.for(Object.entries(losses) as [FaultName, Loss][])('%s', ([fault, loss], context) => {
    const [mail, read] = resultsFor(fault, context);
    const { arrives, provenIn = [], reason } = loss;
    const isProven = provenIn.includes(family);
    const error = {
      name: 'ConnectionError',
      code: isProven ? 'NOT_CONNECTED' : 'CONNECTION_LOST',
      message: expect.stringMatching(reason[family]) as string,
    };
    const [ofMail, ofRead] = isProven ? ['not-sent', 'not-sent'] : ['unknown', 'rejected'];
    expect(mail).toEqual({
      error: { ...error, outcome: ofMail },
      outcome: ofMail,
      attempts: isProven ? 3 : 1,
      arrivals: arrives ? 1 : 0,
    });
    expect(read).toMatchObject({
      error: { ...error, outcome: ofRead },
      outcome: ofRead,
      attempts: 3,
    });
    // Bun and Deno repeat a read once more by themselves.
    expect(read.arrivals).toBeGreaterThanOrEqual(arrives ? 3 : 0);
    const end = isProven ? / The address came from the option `baseUrl`\./ : / It may have taken/;
    expect(mail.error?.message).toMatch(end);
  });

  it.for(tooLate)('%s', (fault, context) => {
    const [mail, read] = resultsFor(fault, context);
    const error = { name: 'TimeoutError', code: 'TIMEOUT' };
    const inTime = 'got no complete response within 1500 ms.';
    expect(mail).toEqual({
      error: {
        ...error,
        message: `POST /v1/send ${inTime} It may have taken effect.`,
        outcome: 'unknown',
      },
      outcome: 'unknown',
      attempts: 1,
      arrivals: 1,
    });
    const message = `GET /contacts/con_1 ${inTime}`;
    expect(read).toEqual({
      error: { ...error, message, outcome: 'rejected' },
      outcome: 'rejected',
      attempts: 2,
      arrivals: 2,
    });
  });

  it('a call aborted before the response', (context) => {
    const [mail, read] = resultsFor('aborted before the answer', context);
    const aborted = { attempts: 1, arrivals: 1 };
    const error = { code: 'ABORTED' };
    expect(mail).toMatchObject({ ...aborted, error, outcome: 'unknown' });
    expect(read).toMatchObject({ ...aborted, error, outcome: 'rejected' });
  });

  it.for(usedAgain)('%s', (fault, context) => {
    const [mail, read] = resultsFor(fault, context);
    // Bun opens a separate connection for each write.
    const code = family === 'Bun' ? undefined : 'CONNECTION_LOST';
    const outcome = family === 'Bun' ? undefined : 'unknown';
    expect([mail.error?.code, mail.outcome, mail.arrivals]).toEqual([code, outcome, 1]);
    // The read is repeated, by the client or by the runtime: its second connection is new.
    expect(read).toMatchObject({ data: { id: 'con_1' }, arrivals: 2 });
  });
}

async function runOf(runtime: Runtime): Promise<Run | string> {
  const found = await findRuntime(runtime);
  return 'missing' in found ? found.missing : runBy(found.command, argumentsOf(runtime));
}

/** Makes every call into every fault, all at the same time. */
async function resultsOf(run: Run): Promise<Results> {
  const opened = Object.entries(faults).flatMap(([fault, how]) =>
    (['send', 'get'] as const).map(async (call) => ({
      fault,
      call,
      service: await openFault(how),
    })),
  );
  const services = await Promise.all(opened);
  const probes = services.map(({ fault, call, service: { url } }) => ({ fault, call, url }));
  const endings = await run(probes);
  await Promise.all(services.map(({ service }) => service.close()));
  const results = services.map(({ fault, call, service }, index): [string, Result] => {
    const request = call === 'send' ? 'POST /v1/send' : 'GET /contacts/con_1';
    const arrivals = service.arrivals.get(request) ?? 0;
    return [`${call} ${fault}`, { ...endings[index]!, arrivals }]; // as: one ending for each probe
  });
  return new Map(results);
}

/** Runs the probe as a program of a user, which imports the installed package. */
function runBy(command: string, args: readonly string[]): Run {
  return async (probes) => {
    const source = await readFile(new URL('../support/runtimes/probe.ts', import.meta.url), 'utf8');
    const { code } = await transform(source, { loader: 'ts', target: 'es2022' });
    const program = `${code.replace(/^export /gm, '')}
      const postreel = await import('postreel');
      console.log(JSON.stringify(await probe(postreel, ${JSON.stringify(probes)})));`;
    const file = await project.write('probe.mjs', program);
    const trust = { NODE_EXTRA_CA_CERTS: authorityFile, DENO_CERT: authorityFile };
    return JSON.parse(await project.run(command, [...args, file], trust)) as Ending[]; // as: the program prints its endings
  };
}

async function runInWorker(probes: readonly Probe[]): Promise<Ending[]> {
  const folder = await mkdtemp(join(tmpdir(), 'postreel-workerd-'));
  const options = { entry: 'probing-worker.ts', compatibilityDate: '2025-06-01' };
  const worker = await startWorker(folder, options);
  const response = await fetch(worker.url, { method: 'POST', body: JSON.stringify(probes) });
  const endings = (await response.json()) as Ending[]; // as: the test's worker returns its endings
  await worker.stop();
  await rm(folder, { recursive: true, force: true });
  return endings;
}
