import { GenerationCanceledError, GenerationFailedError } from 'postreel';
import { describe, expect, it } from 'vitest';
import { answering, mediaOver } from '../../support/clients.js';
import { ending, inTime, useFakeTime } from '../../support/media/fake-time.js';

useFakeTime();

const speech = { content: 'Hi', voiceId: 'voice_1' };
const done = { fileId: 'file_1', status: 'success', download: 'https://cdn.test/1.mp4' };

describe('a wait for a file', () => {
  it('does not use the status of another file', async () => {
    const records = [{ ...done, fileId: 'file_2' }, done];
    const { fetch, requests } = answering(() => records.shift());
    const media = mediaOver(fetch);
    const mismatches: unknown[] = [];
    media.on('mismatch', ({ issues }) => mismatches.push(...issues));
    const file = await inTime(media.waitForFile('file_1'));
    expect(file.fileId).toBe('file_1');
    expect(requests).toHaveLength(2);
    expect(mismatches).toEqual([
      { field: 'fileId', message: expect.stringContaining('file_1') as unknown },
    ]);
  });

  it('accepts the id of the file as a number', async () => {
    const { fetch } = answering(() => ({ ...done, fileId: 17 }));
    expect((await inTime(mediaOver(fetch).waitForFile('17'))).fileId).toBe('17');
  });

  it.each([
    [
      'error',
      { error: 'The script is empty.' },
      GenerationFailedError,
      'failed: The script is empty.',
    ],
    ['error', { error: { message: 'No voice.' } }, GenerationFailedError, 'failed: No voice.'],
    ['error', { failureReason: 'Too long' }, GenerationFailedError, 'failed: Too long'],
    ['error', { error: 17 }, GenerationFailedError, 'failed.'],
    ['canceled', { reason: 'by the owner' }, GenerationCanceledError, 'canceled: by the owner'],
  ])('has an error with the reason why it %s: %j', async (status, facts, kind, sentence) => {
    const record = { fileId: 'file_1', status, ...facts };
    const media = mediaOver(answering(() => record).fetch);
    const { error } = await inTime(ending(media.waitForFile('file_1')));
    expect(error).toBeInstanceOf(kind);
    expect((error as Error).message).toContain(sentence);
    expect(error).toMatchObject({ record });
    expect(Object.keys(error as object)).not.toContain('record');
  });

  it.each([false, true])(
    'removes a key that the service echoes from the error, in a queue: %s',
    async (isQueued) => {
      const record = { fileId: 'file_1', status: 'error', error: 'Bad request by media_test_key' };
      const { fetch } = answering(({ method }) =>
        method === 'POST' ? { fileId: 'file_1', folderId: 'folder_1' } : record,
      );
      const media = mediaOver(fetch);
      const first = async () => {
        for await (const { error } of media.queue([speech])) {
          throw error;
        }
      };
      const ended = await inTime(ending<unknown>(isQueued ? first() : media.waitForFile('file_1')));
      expect(ended.error).toBeInstanceOf(GenerationFailedError);
      expect((ended.error as Error).message).toContain('failed: Bad request by [key]');
    },
  );
});
