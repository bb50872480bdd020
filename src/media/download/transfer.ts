import { onAbort } from '../../core/async.js';
import { invalidRequest } from '../../core/errors.js';
import { kindOf } from '../../core/request.js';
import { Download, type DownloadSource } from './download.js';
import type { FileStream } from './file-stream.js';
import { MemoryTarget, StreamTarget } from './targets.js';
import { readTransferOptions, type TransferOptions } from './transfer-options.js';

/** Downloads a file into memory. */
export async function toBlob(source: DownloadSource, options?: TransferOptions): Promise<Blob> {
  const target = new MemoryTarget();
  await new Download(source, target, readTransferOptions(options)).run();
  return target.blob();
}

/** Passes a file on to a stream and closes it; on failure the stream is aborted with the error. */
export async function pipeTo(
  source: DownloadSource,
  stream: WritableStream<Uint8Array>,
  given?: TransferOptions,
  onBegin?: () => void,
): Promise<void> {
  const options = readTransferOptions(given);
  requireWebStream(stream);
  const writer = stream.getWriter();
  const controller = new AbortController();
  const stopListening = onAbort(options.signal, () => controller.abort(options.signal?.reason));
  // The reader at the other end may have left while nothing is written.
  writer.closed.catch((reason: unknown) => controller.abort(reason));
  const target = new StreamTarget(source.fileId, writer, onBegin);
  try {
    await new Download(source, target, { ...options, signal: controller.signal }).run();
    await writer.close();
  } catch (error) {
    writer.abort(error).catch(() => undefined); // it may be broken itself
    throw error;
  } finally {
    stopListening();
    writer.releaseLock();
  }
}

/** The bytes of a file as they come. Rejects when the first connection fails for good. */
export async function toStream(
  source: DownloadSource,
  options?: TransferOptions,
): Promise<FileStream> {
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
  let end: Promise<void> | undefined;
  const begun = new Promise<void>((resolve) => {
    end = pipeTo(source, writable, options, resolve);
  });
  end?.catch(() => undefined); // the reader of the stream hears of it
  await Promise.race([begun, end]);
  return readable as FileStream; // as: every runtime's streams are those of the same standard
}

// A stream of Node.js is easily taken for one: plain JavaScript may pass anything.
function requireWebStream(stream: unknown): void {
  if (typeof (stream as Partial<WritableStream> | undefined)?.getWriter === 'function') {
    return;
  }
  const isOfNode = typeof (stream as { pipe?: unknown } | undefined)?.pipe === 'function';
  const given = isOfNode ? 'a stream of Node.js' : kindOf(stream);
  const message = `must be a WritableStream; got ${given}. In Node.js use \`saveTo(file, path)\` of postreel/node, or \`file.pipeTo(Writable.toWeb(stream))\``;
  throw invalidRequest([{ field: 'stream', message }]);
}
