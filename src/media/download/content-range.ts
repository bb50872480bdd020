/** Which part of which file a response brings. */
export interface ContentRange {
  /** The offset of the first byte. */
  readonly from: number;
  /** The size of the whole file, when the server says so. */
  readonly totalBytes: number | undefined;
  /** What tells one version of the file from another: a strong ETag, else the date of the last change. */
  readonly version: string | undefined;
  /** Compressed on its way: offsets and lengths say nothing about the file. */
  readonly isEncoded: boolean;
}

// Stores send other words there too, which change no byte: `aws-chunked`, `utf-8`, nothing.
const compressions = /\b(?:gzip|deflate|br|zstd|compress)\b/i;

/**
 * Does the response bring only a part of the file? Some stores answer a range with 200 and a
 * `Content-Range` instead of 206. Taken for the whole file, that part would be saved alone.
 */
export function isPart({ status, headers }: Response): boolean {
  return status === 206 || Number(partOf(headers).from ?? 0) > 0;
}

/** Reads the range of a response; `undefined` for a part that does not say which. */
export function contentRangeOf(response: Response): ContentRange | undefined {
  const { headers } = response;
  const version = versionOf(headers);
  const isEncoded = compressions.test(headers.get('content-encoding') ?? '');
  if (!isPart(response)) {
    const length = isEncoded ? null : headers.get('content-length');
    const totalBytes = length === null ? undefined : Number(length);
    return { from: 0, totalBytes, version, isEncoded };
  }
  const { from, total } = partOf(headers);
  if (from === undefined || isEncoded) {
    return undefined;
  }
  const totalBytes = total === '*' ? undefined : Number(total);
  return { from: Number(from), totalBytes, version, isEncoded };
}

function partOf(headers: Headers): { from?: string | undefined; total?: string | undefined } {
  const [, from, total] =
    /^bytes (\d+)-\d+\/(\d+|\*)$/.exec(headers.get('content-range') ?? '') ?? [];
  return { from, total };
}

// A weak ETag says that two versions are as good as each other, not that their bytes are the same.
function versionOf(headers: Headers): string | undefined {
  const etag = headers.get('etag');
  return (etag?.startsWith('"') ? etag : headers.get('last-modified')) ?? undefined;
}

/** Are both of the same version of a file, as far as the server says? */
export function isSameFile(one: ContentRange, other: ContentRange): boolean {
  return agree(one.totalBytes, other.totalBytes) && agree(one.version, other.version);
}

/** Does the server say that both are of the same version? */
export function isCertainlySame(one: ContentRange, other: ContentRange): boolean {
  return one.version !== undefined && one.version === other.version && isSameFile(one, other);
}

function agree<T>(one: T | undefined, other: T | undefined): boolean {
  return one === undefined || other === undefined || one === other;
}
