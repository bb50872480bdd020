import { describe, expect, it } from 'vitest';
import { openPlanScene, write, yes } from '../support/agents/desk.js';

const silent = 'email,plan\ndora@example.com,pro\n';

describe('plan_import', () => {
  it.each([
    ['without a statement', silent, {}, 'give `newContacts`'],
    ['without a statement', silent, {}, 'The columns are "email", "plan"'],
    ['with two', silent, { newContacts: 'subscribed', subscribed: true }, 'not both'],
    [
      'with a column that nobody named',
      'email,opt_out\ndora@example.com,1\n',
      { newContacts: 'subscribed' },
      '"not:subscribed" if its yes',
    ],
    [
      'with a column of people who have left as `subscribed`',
      'email,opt_out\ndora@example.com,1\n',
      { columns: { opt_out: 'subscribed' } },
      '`columns`: "not:subscribed" if its yes',
    ],
  ])('is refused %s', async (_, text, input, words) => {
    const scene = openPlanScene();
    write(scene, 'list.csv', text);
    const before = scene.messaging.requests.length;
    await expect(scene.call('plan_import', { file: 'list.csv', ...input })).rejects.toThrow(words);
    expect(scene.messaging.requests.length).toBe(before);
  });

  it('accepts a column with an inverted meaning, and counts its values', async () => {
    const scene = openPlanScene();
    write(
      scene,
      'list.csv',
      'email,Opted out\ndora@example.com,yes\nemil@example.com,2026-01-31 10:00\nfay@example.com,no\ngus@example.com,\nhal@example.com,maybe\n',
    );
    const input = {
      file: 'list.csv',
      columns: { 'Opted out': 'not:subscribed' },
      newContacts: 'unsubscribed',
    };
    const text = await scene.read('plan_import', input);
    expect(text).toContain(
      'subscribed: 1 row says subscribed, 2 rows say unsubscribed, 1 row says nothing\notherwise: new contacts are unsubscribed, existing contacts keep their state\nnot sent: 1 row with something wrong',
    );
    expect(text).toContain('"dora@example.com" {"subscribed":false}');
    await scene.carryOut(await scene.plan('plan_import', input), yes);
    const states = [...scene.messaging.project.contacts.values()]
      .filter(({ email }) => /^(dora|emil|fay|gus|hal)@/.test(email))
      .map(({ email, subscribed }) => [email.split('@')[0], subscribed]);
    expect(Object.fromEntries(states)).toEqual({ dora: false, emil: false, fay: true, gus: false });
  });
});
