import { isPostreelError, type PostreelError } from 'postreel';
import { expect } from 'vitest';
import type { Law, MessagingScene } from './law.js';

const mail = { from: 'shop@example.com', to: 'ann@example.com', subject: 'Hi', body: '<p>Hi</p>' };

/** A refusal is a refusal with a known outcome, whatever its status and its body. */
export const errorLaws: readonly Law<MessagingScene>[] = [
  {
    name: 'what the service refuses rejects, and nothing happened',
    async holds({ fake, messaging }) {
      const stranger = { ...mail, from: 'shop@elsewhere.example' };
      const error = await refusal(messaging.send(stranger));
      expect(error.outcome).toBe('rejected');
      expect(fake.outbox).toEqual([]);
      const draft = await messaging.campaigns.create({
        name: 'Spring',
        audienceType: 'ALL',
        subject: 'Hi',
        body: '<p>Hi</p>',
        from: 'shop@example.com',
      });
      expect((await refusal(messaging.campaigns.cancel(draft.id))).outcome).toBe('rejected');
    },
  },
  {
    name: 'the fields that are wrong are named',
    async holds({ messaging, world }) {
      const lenient = messaging.with({ validation: { requests: 'off' } });
      const error = await refusal(lenient.contacts.create({ email: 'nobody' }));
      const isListed = world.refusals === 'ok' || ['envelope', 'legacy'].includes(world.errorShape);
      expect(error.fieldErrors.map(({ field }) => field)).toEqual(isListed ? ['email'] : []);
      expect(error.fieldErrors.every(({ message }) => /email/.test(message))).toBe(true);
    },
  },
  {
    name: 'what does not exist is told by its status',
    async holds({ messaging, world }) {
      const error = await refusal(messaging.contacts.get('con_nobody'));
      if (world.refusals === 'status') {
        expect(error).toMatchObject({ name: 'NotFoundError', status: 404 });
      }
    },
  },
  {
    name: 'a wrong key and a public key are refused, and neither is shown',
    async holds({ fake, messaging, world }) {
      for (const apiKey of ['sk_wrong_key_000', fake.secretKey.replace('sk', 'sk_old')]) {
        const error = await refusal(messaging.with({ apiKey }).contacts.list());
        expect(`${error.message} ${JSON.stringify(error)}`).not.toContain(apiKey);
        if (world.refusals === 'status') {
          expect(error).toMatchObject({ name: 'AuthenticationError', status: 401 });
        }
      }
    },
  },
  {
    name: 'an email of another contact is a conflict',
    async holds({ fake, messaging, world }) {
      await messaging.contacts.create({ email: 'ann@example.com' });
      const { id } = await messaging.contacts.create({ email: 'bob@example.com' });
      const error = await refusal(messaging.contacts.update(id, { email: 'ann@example.com' }));
      expect(error.outcome).toBe('rejected');
      if (world.refusals === 'status') {
        expect(error.name).toBe('ConflictError');
      }
      const emails = [...fake.project.contacts.values()].map(({ email }) => email);
      expect(emails).toEqual(['ann@example.com', 'bob@example.com']);
    },
  },
  {
    name: 'a lost answer is unknown, and nothing is sent twice',
    async holds({ fake, messaging }) {
      fake.fail('POST /v1/send', { loseAnswer: true });
      const error = await refusal(messaging.send(mail));
      expect(error.outcome).toBe('unknown');
      expect(fake.outbox).toHaveLength(1);
    },
  },
  {
    name: 'a read gets over one 503, and a lost answer',
    async holds({ fake, messaging }) {
      const { id } = await messaging.contacts.create({ email: 'ann@example.com' });
      fake.fail('GET /contacts/{id}', { status: 503, retryAfter: 0 });
      expect((await messaging.contacts.get(id)).email).toBe('ann@example.com');
      fake.fail('GET /contacts/{id}', { loseAnswer: true });
      expect((await messaging.contacts.get(id)).email).toBe('ann@example.com');
    },
  },
];

async function refusal(call: PromiseLike<unknown>): Promise<PostreelError> {
  const error: unknown = await Promise.resolve(call).then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!isPostreelError(error)) {
    throw new Error(`The call did not reject with an error of ours: ${String(error)}`);
  }
  return error;
}
