import type { Random } from './random.js';
import { no, textsOf, type Made, type ModelService, type Reply } from './service.js';
import { never } from './store.js';
import type { VirtualTime } from './time.js';
import type { Worker } from './worker.js';

/** How often a request or its answer has a fault. */
export interface NetworkHabits {
  readonly faultChance: number;
  readonly checkFaultChance: number;
  /** No request arrives during this time. */
  readonly outage: { readonly from: number; readonly to: number } | undefined;
}

/** A paid call that left. */
export interface PaidRequest {
  readonly texts: readonly string[];
  readonly worker: Worker;
  readonly sentAt: number;
  /** The texts of which files were made. */
  made: readonly string[];
  /** The result of the request, as its worker received it, in time or too late. */
  end: 'open' | 'accepted' | 'refused' | 'limited' | 'not-sent' | 'lost';
}

/** An answer with ids that came to a living process. */
export interface Told {
  readonly made: Made;
  readonly worker: Worker;
  readonly at: number;
}

type Fault = (typeof faults)[number];

const faults = [
  ...['refused', 'reset', 'lost', 'gateway', 'failed', 'late', 'late', 'hung', 'cut', '4xx', '429'],
] as const;
const minuteMs = 60_000;

/** Between processes and the service: requests that do not arrive, answers that are late, cut or lost. */
export class Network {
  /** Nothing fails any more. */
  isCalm = false;
  readonly calls: PaidRequest[] = [];
  readonly told: Told[] = [];
  readonly #time: VirtualTime;
  readonly #random: Random;
  readonly #habits: NetworkHabits;
  readonly #service: ModelService;
  readonly #timeoutMs: number;
  readonly #mayOverlap: boolean;
  readonly #report: (violation: string) => void;

  constructor(
    time: VirtualTime,
    random: Random,
    {
      habits,
      service,
      timeoutMs,
      mayOverlap,
      report,
    }: {
      readonly habits: NetworkHabits;
      readonly service: ModelService;
      readonly timeoutMs: number;
      /** May a job whose caller gave up be sent again before its first call ends? */
      readonly mayOverlap: boolean;
      readonly report: (violation: string) => void;
    },
  ) {
    this.#time = time;
    this.#random = random;
    this.#habits = habits;
    this.#service = service;
    this.#timeoutMs = timeoutMs;
    this.#mayOverlap = mayOverlap;
    this.#report = report;
  }

  /** The `fetch` of a process. */
  carry(worker: Worker, address: string, { method, body, signal }: RequestInit): Promise<Response> {
    const url = new URL(address);
    const isPaid = method === 'POST';
    if (isPaid) {
      worker.moment(); // exactly before the bytes leave
    }
    if (worker.isDead) {
      return never();
    }
    const sent: unknown = isPaid ? JSON.parse(body as string) : undefined; // our core sends texts
    const call = isPaid ? this.#leave(worker, textsOf(sent)) : undefined;
    const fault = this.#faultOf(isPaid);
    const ask = () => this.#service.answer(url.pathname, url.searchParams, sent);
    return new Promise((resolve, reject) => {
      signal?.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
      const to = { worker, call, resolve, reject, isOver: () => signal?.aborted === true };
      this.#travel(to, fault, ask);
    });
  }

  /** A paid call leaves: it must not, while another one for the same job may still be answered. */
  #leave(worker: Worker, texts: readonly string[]): PaidRequest {
    const now = this.#time.now();
    for (const { texts: others, sentAt, end } of this.calls) {
      const text = end === 'open' && texts.find((one) => others.includes(one));
      if (text && !this.#mayOverlap && now < sentAt + this.#timeoutMs) {
        this.#report(`${text} is sent while another call for it is under way`);
      }
    }
    const call: PaidRequest = { texts, worker, sentAt: now, made: [], end: 'open' };
    this.calls.push(call);
    return call;
  }

  #faultOf(isPaid: boolean): Fault | undefined {
    const { faultChance, checkFaultChance, outage } = this.#habits;
    const now = this.#time.now();
    if (this.isCalm) {
      return undefined;
    }
    if (outage && now >= outage.from && now < outage.to) {
      return 'refused';
    }
    return this.#random.chance(isPaid ? faultChance : checkFaultChance)
      ? this.#random.pick(faults)
      : undefined;
  }

  #travel(to: Receiver, fault: Fault | undefined, ask: () => Reply): void {
    const { worker, call } = to;
    const random = this.#random;
    const backMs = 10 + random.next() * (random.chance(0.1) ? 5_000 : 300);
    const lateMs = fault === 'late' ? random.next() * (this.#timeoutMs + 4 * minuteMs) : 0;
    const hasArrived = !['refused', 'reset', 'gateway', '4xx', '429'].includes(fault ?? '');
    this.#time.after(10 + random.next() * 300, () => {
      // A request that was sent before its process died may arrive or not.
      const isCutOff = worker.isDead && random.chance(0.5);
      const isHung = fault === 'hung' && random.chance(0.5);
      const reply = hasArrived && !isCutOff && !isHung ? ask() : undefined;
      if (call) {
        call.made = reply?.made.map(({ text }) => text) ?? [];
        worker.moment();
      }
      if (fault !== 'hung') {
        this.#time.after(backMs + lateMs, () => this.#deliver(to, fault, reply));
      }
    });
  }

  #deliver(to: Receiver, fault: Fault | undefined, reply: Reply | undefined): void {
    const { worker, call, isOver } = to;
    if (call) {
      worker.moment(); // right after the answer came
    }
    if (worker.isDead || isOver()) {
      return;
    }
    const { failure, answer } = this.#arrival(fault, reply);
    if (call) {
      const isLate = this.#time.now() > call.sentAt + this.#timeoutMs;
      call.end = endOf(answer, fault, isLate);
    }
    if (failure) {
      to.reject(failure);
      return;
    }
    if (fault !== 'cut' && answer?.status === 200) {
      const at = this.#time.now();
      answer.made.forEach((made) => this.told.push({ made, worker, at }));
    }
    to.resolve(responseOf(answer ?? no(500, ''), fault === 'cut'));
  }

  #arrival(
    fault: Fault | undefined,
    reply: Reply | undefined,
  ): { readonly failure?: Error; readonly answer?: Reply } {
    switch (fault) {
      case 'refused':
        return { failure: fetchFailed('ECONNREFUSED', 'connect') };
      case 'reset':
      case 'lost':
        return { failure: fetchFailed('ECONNRESET', 'read') };
      case 'gateway':
      case 'failed':
        return { answer: no(this.#random.pick([500, 502, 503, 504, 408]), 'try again later') };
      case '4xx':
        return { answer: no(this.#random.pick([403, 404, 409, 422]), 'not now') };
      case '429':
        return { answer: no(429, 'Slow down.') };
      default:
        return reply ? { answer: reply } : { failure: fetchFailed('ECONNRESET', 'read') };
    }
  }
}

interface Receiver {
  readonly worker: Worker;
  readonly call: PaidRequest | undefined;
  readonly resolve: (response: Response) => void;
  readonly reject: (reason: Error) => void;
  readonly isOver: () => boolean;
}

function endOf(answer: Reply | undefined, fault: Fault | undefined, isLate: boolean) {
  const { status = 0 } = answer ?? {};
  if (fault === 'refused') {
    return 'not-sent';
  }
  if (fault === 'cut' || status === 0 || status >= 500 || status === 408) {
    return 'lost';
  }
  if (status === 200) {
    return 'accepted';
  }
  return isLate ? 'lost' : status === 429 ? 'limited' : 'refused';
}

function fetchFailed(code: string, syscall: string): TypeError {
  const cause = Object.assign(new Error(`${syscall} ${code}`), { code, syscall });
  return new TypeError('fetch failed', { cause });
}

function responseOf({ status, headers, body }: Reply, isCut: boolean): Response {
  const text = status >= 500 ? '<html>Bad gateway</html>' : JSON.stringify(body);
  const init = { status, headers: { 'content-type': 'application/json', ...headers } };
  if (!isCut) {
    return new Response(text, init);
  }
  const bytes = new TextEncoder().encode(text.slice(0, text.length / 2));
  const half = new ReadableStream<Uint8Array>({
    start: (stream) => stream.enqueue(bytes),
    pull: (stream) => stream.error(new TypeError('terminated')),
  });
  return new Response(half, init);
}
