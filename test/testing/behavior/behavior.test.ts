import {
  createFakeMedia,
  createFakeMessaging,
  mediaBehaviors,
  messagingBehaviors,
} from 'postreel/testing';
import { describe, expect, it } from 'vitest';
import { worldsOf } from '../../support/worlds/worlds.js';
import { mediaTrace, messagingTrace } from '../../support/testing/trace.js';

describe('a world of the messaging fake', () => {
  const document = messagingTrace({});

  it.each(worldsOf(messagingBehaviors))(
    'differs on the wire with $name, also where that is set while it runs',
    async ({ world }) => {
      const trace = await messagingTrace(world);
      expect(trace).not.toEqual(await document);
      expect(await messagingTrace(world, 'running')).toEqual(trace);
    },
  );

  it('is the same for the same settings', async () => {
    expect(await messagingTrace({})).toEqual(await document);
  });
});

describe('a world of the media fake', () => {
  const document = mediaTrace({});

  it.each(worldsOf(mediaBehaviors))(
    'differs on the wire with $name, also where that is set while it runs',
    async ({ world }) => {
      const trace = await mediaTrace(world);
      expect(trace).not.toEqual(await document);
      expect(await mediaTrace(world, 'running')).toEqual(trace);
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
