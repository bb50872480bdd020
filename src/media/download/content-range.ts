/** The part of a file that a response contains. */
export interface ContentRange {
  /** The offset of the first byte. */
  readonly from: number;
  /** The size of the whole file; `undefined` when the server does not send it. */
  readonly totalBytes: number | undefined;
  /** Identifies the version of the file: a strong ETag, else the date of the last change. */
  readonly version: string | undefined;
  /** Is the body compressed? Then its offsets and lengths are not those of the file. */
  readonly isEncoded: boolean;
}

// File stores also send values of `Content-Encoding` that do not change the bytes: `aws-chunked`, `utf-8`, an empty one.
const compressions = /\b(?:gzip|deflate|br|zstd|compress)\b/i;

/**
 * Does the response contain only a part of the file? Some stores respond to a range with 200 and a
 * `Content-Range` instead of 206. Without this check, that part would be saved as the whole file.
 */
export function isPart({ status, headers }: Response): boolean {
  return status === 206 || Number(partOf(headers).from ?? 0) > 0;
}

/** Reads the range of a response; `undefined` for a part without a valid range. */
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

// Two versions with the same weak ETag are equivalent, but their bytes may differ.
function versionOf(headers: Headers): string | undefined {
  const etag = headers.get('etag');
  return (etag?.startsWith('"') ? etag : headers.get('last-modified')) ?? undefined;
}

/** May both responses be of the same version of a file? A value that is missing counts as equal. */
export function isSameFile(one: ContentRange, other: ContentRange): boolean {
  return (
    areCompatible(one.totalBytes, other.totalBytes) && areCompatible(one.version, other.version)
  );
}

/** Are both responses certainly of the same version of a file? */
export function isCertainlySame(one: ContentRange, other: ContentRange): boolean {
  return one.version !== undefined && one.version === other.version && isSameFile(one, other);
}

function areCompatible<T>(one: T | undefined, other: T | undefined): boolean {
  return one === undefined || other === undefined || one === other;
}
