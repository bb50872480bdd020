import {
  createFakeMedia,
  createFakeMessaging,
  mediaBehaviors,
  messagingBehaviors,
} from 'postreel/testing';
import { describe, expect, it } from 'vitest';
import { alternatives, nameOf } from '../../support/worlds/worlds.js';
import { mediaTrace, messagingTrace } from '../../support/testing/trace.js';

describe('a world of the messaging fake', () => {
  const document = messagingTrace({});
  const others = alternatives(messagingBehaviors);

  it.each(others.map((world) => [nameOf(world), world] as const))(
    'differs on the wire with %s',
    async (_, world) => {
      expect(await messagingTrace(world)).not.toEqual(await document);
    },
  );

  it.each(others.map((world) => [nameOf(world), world] as const))(
    'answers by %s once that is set while it runs',
    async (_, world) => {
      expect(await messagingTrace(world, 'running')).toEqual(await messagingTrace(world));
    },
  );

  it('is the same for the same settings', async () => {
    expect(await messagingTrace({})).toEqual(await document);
  });
});

describe('a world of the media fake', () => {
  const document = mediaTrace({});
  const others = alternatives(mediaBehaviors);

  it.each(others.map((world) => [nameOf(world), world] as const))(
    'differs on the wire with %s',
    async (_, world) => {
      expect(await mediaTrace(world)).not.toEqual(await document);
    },
  );

  it.each(others.map((world) => [nameOf(world), world] as const))(
    'answers by %s once that is set while it runs',
    async (_, world) => {
      expect(await mediaTrace(world, 'running')).toEqual(await mediaTrace(world));
    },
  );

  it('is the same for the same settings', async () => {
    expect(await mediaTrace({})).toEqual(await document);
  });
});

describe('behavior', () => {
  it('starts as the document reads, which is the first value of each setting', () => {
    for (const [name, { values }] of Object.entries(messagingBehaviors)) {
      expect(createFakeMessaging().settings).toHaveProperty(name, values[0]);
    }
    for (const [name, { values }] of Object.entries(mediaBehaviors)) {
      expect(createFakeMedia().settings).toHaveProperty(name, values[0]);
    }
  });

  it('is as it was made after a reset', () => {
    const fake = createFakeMessaging({ behavior: { ids: 'uuid' } });
    fake.settings.ids = 'text';
    fake.reset();
    expect(fake.settings.ids).toBe('uuid');
  });

  it.each([
    [{ ids: 'roman' }, '`behavior.ids` must be one of text, uuid; got roman.'],
    [{ colour: 'red' }, '`behavior.colour` is not an option of `createFakeMessaging()`'],
  ])('refuses %j', (behavior, message) => {
    expect(() => createFakeMessaging({ behavior: behavior as never })).toThrow(message);
  });
});
