import { onAbort } from '../../core/async.js';
import { invalidRequest } from '../../core/errors.js';
import { kindOf } from '../../core/values.js';
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

/** Copies a file to a stream and closes the stream. On failure it aborts the stream with the error. */
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
  // Ends the download when the reader of the stream cancels while nothing is being written.
  writer.closed.catch((reason: unknown) => controller.abort(reason));
  const target = new StreamTarget(source.fileId, writer, onBegin);
  try {
    await new Download(source, target, { ...options, signal: controller.signal }).run();
    await writer.close();
  } catch (error) {
    writer.abort(error).catch(() => undefined); // the stream itself may be broken
    throw error;
  } finally {
    stopListening();
    writer.releaseLock();
  }
}

/** Streams the bytes of a file as they arrive. Rejects when the first connection fails for good. */
export async function toStream(
  source: DownloadSource,
  options?: TransferOptions,
): Promise<FileStream> {
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
  let end: Promise<void> | undefined;
  const begun = new Promise<void>((resolve) => {
    end = pipeTo(source, writable, options, resolve);
  });
  end?.catch(() => undefined); // the reader of the stream gets this error
  await Promise.race([begun, end]);
  return readable as FileStream; // as: all runtimes implement the same Streams standard
}

// Plain JavaScript may pass anything, and a stream of Node.js is a likely mistake.
function requireWebStream(stream: unknown): void {
  if (typeof (stream as Partial<WritableStream> | undefined)?.getWriter === 'function') {
    return;
  }
  const isOfNode = typeof (stream as { pipe?: unknown } | undefined)?.pipe === 'function';
  const given = isOfNode ? 'a stream of Node.js' : kindOf(stream);
  const message = `must be a WritableStream; got ${given}. In Node.js use \`saveTo(file, path)\` of postreel/node, or \`file.pipeTo(Writable.toWeb(stream))\``;
  throw invalidRequest([{ field: 'stream', message }]);
}
