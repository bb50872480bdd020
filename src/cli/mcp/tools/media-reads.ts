import { saveTo } from 'postreel/node';
import * as z from 'zod/mini';
import { messageOf } from '../failure.js';
import { readTool, type Tool } from './tool.js';

const text = z.string().check(z.minLength(1));
const fileIds = z.array(text).check(z.minLength(1), z.maxLength(20));
const maxMinutes = 60;
/** For a file that was not waited for. */
const saveWaitMs = 30_000;

/** Reads of the media service. */
export const mediaReads: readonly Tool[] = [
  readTool({
    name: 'get_files',
    title: 'Get the status of files',
    description: 'The status of up to 20 files: queued, processing, success, error or canceled.',
    schema: z.strictObject({ fileIds }),
    read: async ({ fileIds: ids }, { media }, { signal }) => ({
      files: await Promise.all(ids.map((fileId) => media.generate.status({ fileId }, { signal }))),
    }),
  }),
  readTool({
    name: 'wait_for_files',
    title: 'Wait for files',
    description:
      'Waits until files are made, with progress; a video takes minutes. Can be cancelled: the service goes on making them.',
    schema: z.strictObject({
      fileIds,
      minutes: z.optional(z.number().check(z.minimum(1), z.maximum(maxMinutes))),
    }),
    read: async ({ fileIds: ids, minutes = maxMinutes }, { media, finished }, progress) => {
      const { signal } = progress;
      let done = 0;
      progress.report(0, ids.length, 'waiting');
      const wait = async (fileId: string) => {
        const result = media.waitForFile(fileId, { signal, timeout: minutes * 60_000 });
        const ended = await result.then(
          (file) => {
            finished.set(fileId, file);
            return { fileId, status: 'success', url: file.url };
          },
          (error: unknown) => ({ fileId, error: messageOf(error) }),
        );
        signal.throwIfAborted();
        done += 1;
        progress.report(done, ids.length, `${done} of ${ids.length} files`);
        return ended;
      };
      return { files: await Promise.all(ids.map(wait)) };
    },
  }),
  readTool({
    name: 'save_file',
    title: 'Save a file',
    description: 'Downloads a finished file into the folder of this server. Overwrites nothing.',
    schema: z.strictObject({ fileId: text, name: text }),
    writesFile: true,
    read: async ({ fileId, name }, { media, folder, finished }, { signal }) => {
      await folder.assertFree(name);
      const known = finished.get(fileId);
      const file = known ?? (await media.waitForFile(fileId, { signal, timeout: saveWaitMs }));
      await folder.add(name, (path) => saveTo(file, path, { signal }));
      return { saved: name };
    },
  }),
];
