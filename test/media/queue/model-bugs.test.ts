import { describe, expect, it } from 'vitest';
import { violationsIn, type Bug } from '../../support/media/model/world.js';

const most = Number(process.env['MODEL_WORLDS'] ?? 2_000);

const bugs: readonly Bug[] = [
  {
    name: 'names are not claimed',
    journal: (journal) => ({
      ...journal,
      claim: async ({ type, id, at, jobs }) => {
        await journal.append({ type, id, at, jobs });
        return new Map();
      },
    }),
  },
  {
    name: 'a taken name is written all the same',
    journal: (journal) => ({
      ...journal,
      claim: async (intent) => {
        await journal.append(intent);
        return new Map();
      },
    }),
  },
  {
    name: 'the journal is not asked before jobs are submitted, nor by the claim',
    journal: (journal) => ({
      ...journal,
      find: () => Promise.resolve(new Map()),
      claim: async (intent) => {
        await journal.append(intent);
        return new Map();
      },
    }),
  },
  {
    name: 'answers are not written down',
    journal: (journal) => ({
      ...journal,
      append: (entry) =>
        entry.type === 'accepted'
          ? journal.append({ type: 'refused', id: entry.id })
          : journal.append(entry),
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
      slots.doubt = (names) => slots.release(names);
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
          within: clock.within.bind(clock),
          at: (time: number, task: () => void) =>
            ++timers % 40 === 0 ? () => undefined : clock.at(time, task),
        },
      });
    },
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
