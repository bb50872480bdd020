import { MessagingClient, type DeployOptions, type Deployment } from 'postreel';
import { createFakeMessaging, type FakeMessaging } from 'postreel/testing';
import { describe, expect, it } from 'vitest';
import { idsOn, welcome } from '../../support/messaging/welcome.js';
import fc, { runs } from '../../support/property.js';

/** A deployer whose requests, and their answers, take their turns among those of others. */
function deployer(fake: FakeMessaging, scheduler: fc.Scheduler) {
  const fetch: typeof fake.fetch = async (input, init) => {
    await scheduler.schedule(Promise.resolve());
    const answer = await fake.fetch(input, init);
    await scheduler.schedule(Promise.resolve());
    return answer;
  };
  const { workflows } = new MessagingClient({ ...fake.options, rateLimit: false, fetch });
  return (subject: string, settings: DeployOptions) => workflows.deploy(welcome(subject), settings);
}

/** A project with versions that were deployed one after another; the last one is on. */
async function projectWith(subjects: readonly string[]): Promise<FakeMessaging> {
  const fake = createFakeMessaging();
  const { workflows } = new MessagingClient({ ...fake.options, rateLimit: false });
  for (const subject of subjects) {
    await workflows.deploy(welcome(subject), { enable: true });
  }
  return fake;
}

const enable = true;

describe('two deployers at once', () => {
  it.each<[string, string[], [string, DeployOptions][]]>([
    ['of one first version', [], [['A', { enable }], ['A', { enable }]]], // prettier-ignore
    ['of one new version', ['A'], [['B', { enable }], ['B', { enable }]]], // prettier-ignore
    ['of two versions', ['A'], [['B', { enable }], ['C', { enable }]]], // prettier-ignore
    ['back to two old versions', ['A', 'B', 'C'], [['A', { enable }], ['B', { enable }]]], // prettier-ignore
    ['of which one only prepares', ['A'], [['B', {}], ['B', { enable }]]], // prettier-ignore
    ['that prune', ['A', 'B'], [['C', { enable, prune: true }], ['D', { enable, prune: true }]]], // prettier-ignore
  ])(
    '%s leave exactly one version on',
    async (_, before, both) => {
      await fc.assert(
        fc.asyncProperty(fc.scheduler(), async (scheduler) => {
          const fake = await projectWith(before);
          const ends = Promise.all(
            both.map(([subject, settings]) => deployer(fake, scheduler)(subject, settings)),
          );
          const reports: Deployment[] = await scheduler.waitFor(ends);
          const [on, ...others] = idsOn(fake);
          expect(others).toEqual([]);
          expect(reports.map(({ workflowId }) => workflowId)).toContain(on);
          const names = [...fake.project.workflows.values()].map(({ name }) => name);
          expect(names.filter((name) => name.includes('('))).toEqual([]);
        }),
        { numRuns: runs(8) },
      );
    },
    120_000,
  );

  it('with one killed leave one version on, or the next deployment does', async () => {
    const kills = fc.record({
      scheduler: fc.scheduler(),
      at: fc.integer({ min: 0, max: 16 }),
      other: fc.constantFrom('B', 'C'),
    });
    await fc.assert(
      fc.asyncProperty(kills, async ({ scheduler, at, other }) => {
        const fake = await projectWith(['A']);
        const deploy = deployer(fake, scheduler);
        let count = 0;
        const over = new AbortController();
        const dying: typeof fake.fetch = async (input, init) => {
          over.signal.throwIfAborted();
          await scheduler.schedule(Promise.resolve());
          count += 1;
          return count > at ? new Promise<never>(() => undefined) : fake.fetch(input, init);
        };
        const { workflows } = new MessagingClient({
          ...fake.options,
          rateLimit: false,
          retries: 0,
          fetch: dying,
        });
        const deployed = workflows.deploy(welcome('B'), { enable }, { signal: over.signal });
        const killed = deployed.catch(() => undefined);
        await scheduler.waitFor(deploy(other, { enable }).catch(() => undefined));
        const next = await new MessagingClient({
          ...fake.options,
          rateLimit: false,
        }).workflows.deploy(welcome('B'), { enable });
        expect(idsOn(fake)).toEqual([next.workflowId]);
        over.abort();
        await killed; // it leaves no timer behind
      }),
      { numRuns: runs(8) },
    );
  }, 120_000);
});
