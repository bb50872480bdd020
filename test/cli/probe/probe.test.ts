import {
  createFakeMedia,
  createFakeMessaging,
  mediaBehaviors,
  messagingBehaviors,
  type FakeMedia,
  type FakeMessaging,
} from 'postreel/testing';
import { describe, expect, it } from 'vitest';
import { ask, type Answer, type Target } from '../../../src/cli/probe/ask.js';
import { mediaQuestions, probeMedia } from '../../../src/cli/probe/media.js';
import {
  messagingQuestions,
  probeMessaging,
  recordQuestions,
} from '../../../src/cli/probe/messaging.js';
import { randomWorlds } from '../../support/worlds/worlds.js';

// The same ten worlds each time; WORLDS_SEED asks for others.
const seed = Number(process.env['WORLDS_SEED'] ?? 1);
const start = Date.parse('2026-03-01T12:00:00.000Z');
console.log(`probe: repeat these worlds with WORLDS_SEED=${seed}`);

function messaging(behavior: object): FakeMessaging {
  const fake = createFakeMessaging({ clock: { start }, behavior });
  fake.seed({ contacts: 3, templates: 2, campaigns: 3, segments: 1, events: 3, emails: 3 });
  const at = fake.clock.date();
  const bare = { email: 'bare@example.com', subscribed: true, data: {} };
  const id = fake.world.id('con');
  fake.project.contacts.set(id, { id, ...bare, createdAt: at, updatedAt: at });
  return fake;
}

const targetOf = (fake: FakeMedia | FakeMessaging, apiKey: string): Target => ({
  baseUrl: fake.baseUrl,
  apiKey,
  fetch: fake.fetch,
});

/** Every question of the probe: the lists, and one record of each by its own id. */
async function questionsFor(target: Target): Promise<string[]> {
  const lists: Record<string, Answer> = {};
  for (const question of messagingQuestions) {
    lists[question] = await ask(target, question);
  }
  return [...messagingQuestions, ...recordQuestions(lists)];
}

async function answersOf(target: Target, questions: readonly string[]) {
  const said: unknown[] = [];
  for (const question of questions) {
    for (const key of [target.apiKey, 'sk_test_wrong_key']) {
      const { status, text, json, headers } = await ask(target, question, key);
      said.push([question, status, headers.get('content-type'), json ?? text]);
    }
  }
  return said;
}

describe(`probe in ten random worlds (seed ${seed})`, () => {
  it.each(randomWorlds(messagingBehaviors, 10, seed))(
    'writes a messaging world that answers alike: %j',
    async (world) => {
      const real = messaging(world);
      const behavior = await probeMessaging(targetOf(real, real.secretKey));
      expect(real.requests.every(({ method }) => method === 'GET')).toBe(true);
      const copy = messaging(JSON.parse(JSON.stringify(behavior)) as object);
      const fresh = messaging(world);
      const one = targetOf(copy, copy.secretKey);
      const other = targetOf(fresh, fresh.secretKey);
      const questions = await questionsFor(one);
      expect(questions).toHaveLength(messagingQuestions.length + 4);
      expect(await questionsFor(other)).toEqual(questions);
      const said = await answersOf(one, questions);
      const expected = await answersOf(other, questions);
      for (const [index, answer] of said.entries()) {
        expect(answer).toEqual(expected[index]);
      }
      expect(said).toHaveLength(expected.length);
    },
  );

  it.each(randomWorlds(mediaBehaviors, 10, seed))(
    'writes a media world that answers alike: %j',
    async (world) => {
      const real = createFakeMedia({ clock: { start }, behavior: world });
      const behavior = await probeMedia(targetOf(real, real.apiKey));
      const copy = createFakeMedia({ clock: { start }, behavior });
      const fresh = createFakeMedia({ clock: { start }, behavior: world });
      const said = await answersOf(targetOf(copy, copy.apiKey), mediaQuestions);
      expect(said).toEqual(await answersOf(targetOf(fresh, fresh.apiKey), mediaQuestions));
    },
  );
});

it('writes values of the tables alone: no key, address or content', async () => {
  const fake = messaging({});
  const text = JSON.stringify(await probeMessaging(targetOf(fake, fake.secretKey)));
  for (const secret of [fake.secretKey, fake.baseUrl, 'example.com', fake.project.id]) {
    expect(text).not.toContain(secret);
  }
});

it('refuses to judge a service by a key that it does not take', async () => {
  const fake = messaging({});
  const target = targetOf(fake, 'sk_wrong');
  await expect(probeMessaging(target)).rejects.toThrow('Check it, then probe again');
});

describe('what a probe did not see', () => {
  it('is left out of what it found: a project without records shows few habits', async () => {
    const fake = createFakeMessaging({ clock: { start }, behavior: {} });
    const found = await probeMessaging(targetOf(fake, fake.secretKey));
    for (const name of [
      'ids',
      'dates',
      'extraFields',
      'unset',
      'periods',
      'cutAnswers',
      'stateWords',
    ]) {
      expect(found).not.toHaveProperty(name);
    }
  });

  it('ends at a 429, instead of taking refusals for habits', async () => {
    const fake = messaging({});
    const target = targetOf(fake, fake.secretKey);
    let questions = 0;
    const limited: typeof fetch = (input, init) =>
      ++questions > 3
        ? Promise.resolve(Response.json({ error: 'busy' }, { status: 429 }))
        : target.fetch(input, init);
    await expect(probeMessaging({ ...target, fetch: limited })).rejects.toThrow('answers 429');
  });
});
