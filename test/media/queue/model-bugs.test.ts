import { describe, expect, it } from 'vitest';
import { RunningCall } from '../../../src/core/call.js';
import { violationsIn, type Bug } from '../../support/media/model/world.js';

const most = Number(process.env['MODEL_WORLDS'] ?? 2_000);

const bugs: readonly Bug[] = [
  {
    name: 'the key of a client is part of the name',
    host: (host) => {
      const nameOf = host.nameOf.bind(host);
      const key = crypto.randomUUID();
      host.nameOf = (queue, job) => nameOf(`${queue}@${key}`, job);
    },
  },
  {
    name: 'jobs are named by their place',
    host: (host) => {
      const nameOf = host.nameOf.bind(host);
      let place = 0;
      host.nameOf = (queue) => nameOf(queue, String(++place));
    },
  },
  {
    name: 'the intent is written before the wait for a slot',
    submit: (submission, time) => ({
      ...submission,
      send: ({ beforeSending, onLate }) =>
        new RunningCall(async (state) => {
          state.outcome = 'not-sent';
          await beforeSending?.();
          await time.sleep(300_000);
          return submission.send({ onLate }).withResponse();
        }),
    }),
  },
  {
    name: 'words decide what was made',
    host: (host) => {
      const submit = host.submit.bind(host);
      host.submit = (jobs, facts) => {
        const call = submit(jobs, facts);
        return new RunningCall(async (state) => {
          try {
            return await call.withResponse();
          } catch (error) {
            const isFull = String(error).includes('too many pending');
            state.outcome = isFull ? 'not-sent' : call.outcome;
            throw error;
          }
        });
      };
    },
  },
  {
    name: 'claims and answers of earlier runs are not found',
    journal: (store) => ({
      ...store,
      get: () => Promise.resolve(new Map()),
      putIfAbsent: (key, value) => store.put(key, value).then(() => value),
    }),
  },
  {
    name: 'answers are written down as refusals',
    journal: (store) => ({
      ...store,
      put: (key, value) => store.put(key.replace(/accepted$/, 'refused'), value),
    }),
  },
  {
    name: 'the claim is written after the answer',
    submit: (submission) => ({
      ...submission,
      send: ({ beforeSending, onLate }) => {
        const call = submission.send({ onLate });
        return new RunningCall(async () => {
          const answer = await call.withResponse();
          await beforeSending?.();
          return answer;
        });
      },
    }),
  },
  {
    name: 'an unknown outcome is written down as a refusal, and sent again',
    host: (host) => {
      const submit = host.submit.bind(host);
      host.submit = (jobs, facts) => {
        const call = submit(jobs, facts);
        Object.defineProperty(call, 'outcome', { get: () => 'not-sent' });
        return call;
      };
    },
  },
  {
    name: 'slots in doubt are free at once',
    slots: (slots) => {
      slots.holdUncertain = (names) => slots.release(names);
    },
  },
  {
    name: 'slots of running jobs are not held',
    slots: (slots) => {
      slots.hold = (_, instead) => slots.release(instead ?? []);
    },
  },
  {
    name: 'the rate limit is not asked',
    host: (host) => {
      host.callAt = () => host.clock.now();
    },
  },
  {
    name: 'a timer is forgotten',
    host: (host) => {
      const { clock } = host;
      let timers = 0;
      Object.assign(host, {
        clock: {
          now: () => clock.now(),
          limit: clock.limit.bind(clock),
          at: (time: number, task: () => void) =>
            ++timers % 40 === 0 ? () => undefined : clock.at(time, task),
        },
      });
    },
  },
  {
    name: 'what goes back to an engine counts as a try',
    source: (source) => ({
      ...source,
      release: (item) => source.fail(item, new Error('released'), { outcome: 'rejected' }),
    }),
  },
  {
    name: 'ids are given to the wrong jobs',
    host: (host) => {
      const submit = host.submit.bind(host);
      host.submit = (jobs, facts) => submit(jobs, facts).map((records) => [...records].reverse());
    },
  },
];

describe('the model finds each bug that is put in', () => {
  it.each(bugs.map((bug) => [bug.name, bug] as const))(
    '%s',
    async (_, bug) => {
      for (let seed = 1; seed <= most; seed++) {
        const violations = await violationsIn(seed, bug);
        if (violations.length > 0) {
          return;
        }
      }
      expect.unreachable(`not found in ${most} worlds`);
    },
    600_000,
  );
});
