import { saveTo } from 'postreel/node';
import * as z from 'zod/mini';
import { messageOf } from './text.js';
import { readTool, type ReadTool } from './tool.js';

const text = z.string().check(z.minLength(1));
const maxFiles = 20;
const maxMinutes = 60;
/** Below the time limit of every known client. */
export const patienceMs = 45_000;
/** The time limit for saving a file whose end no call has waited for. */
const saveWaitMs = 30_000;

/** The tools that wait for finished files and save them. */
export const fileTools: readonly ReadTool[] = [
  readTool({
    name: 'wait_for_files',
    about: `Waits until files are made, and returns their addresses. Returns the results so far after ${patienceMs / 1000} s, or after \`minutes\`: call it again for the rest. The service continues to make them in any case.`,
    schema: z.object({
      fileIds: z.array(text).check(z.minLength(1), z.maxLength(maxFiles)),
      minutes: z.optional(z.number().check(z.minimum(1), z.maximum(maxMinutes))),
    }),
    fields: {
      fileIds: `The ids of up to ${maxFiles} files.`,
      minutes: 'How long to wait, for clients that allow it.',
    },
    read: async ({ fileIds: ids, minutes }, { media, finished }, progress) => {
      const end = new AbortController();
      const waitMs = minutes === undefined ? patienceMs : minutes * 60_000;
      const timer = setTimeout(() => end.abort(), waitMs);
      const signal = AbortSignal.any([progress.signal, end.signal]);
      let done = 0;
      progress.report(`0 of ${ids.length} files`);
      const waitFor = async (fileId: string) => {
        try {
          const file = finished.get(fileId) ?? (await media.waitForFile(fileId, { signal }));
          finished.set(fileId, file);
          return { fileId, status: 'success', url: file.url };
        } catch (error) {
          progress.signal.throwIfAborted();
          return end.signal.aborted
            ? { fileId, status: 'not finished yet' }
            : { fileId, error: messageOf(error) };
        } finally {
          done += 1;
          progress.report(`${done} of ${ids.length} files`);
        }
      };
      try {
        return { files: await Promise.all(ids.map(waitFor)) };
      } finally {
        clearTimeout(timer);
      }
    },
  }),
  readTool({
    name: 'save_file',
    about: 'Downloads a finished file into the folder of this server. Overwrites nothing.',
    schema: z.object({ fileId: text, name: text }),
    fields: { name: 'The name in the folder, such as cats.mp4.' },
    writesFile: true,
    read: async ({ fileId, name }, { media, folder, finished }, { signal, report }) => {
      await folder.assertFree(name);
      report('looking for the file');
      const known = finished.get(fileId);
      const file = known ?? (await media.waitForFile(fileId, { signal, timeout: saveWaitMs }));
      report('downloading');
      await folder.add(name, (path) => saveTo(file, path, { signal }));
      return { saved: name };
    },
  }),
];
