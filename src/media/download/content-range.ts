/** The part of a file that a response contains. */
export interface ContentRange {
  /** The offset of the first byte. */
  readonly from: number;
  /** The size of the whole file in bytes; `undefined` when the server does not send it. */
  readonly totalBytes: number | undefined;
  /** The version of the file: a strong ETag, else the date of the last change. */
  readonly version: string | undefined;
  /** Is the body compressed for the transfer? Its offsets and lengths are then not those of the file. */
  readonly isEncoded: boolean;
}

// File stores send other values in `content-encoding`, too, that do not change the bytes: `aws-chunked`,
// `utf-8`, or an empty text.
const compressions = /\b(?:gzip|deflate|br|zstd|compress)\b/i;

/** Reads the range of a response; `undefined` for a 206 whose range is missing or unusable. */
export function contentRangeOf({ status, headers }: Response): ContentRange | undefined {
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

// A weak ETag means that two versions are equivalent, not that their bytes are equal.
function versionOf(headers: Headers): string | undefined {
  const etag = headers.get('etag');
  return (etag?.startsWith('"') ? etag : headers.get('last-modified')) ?? undefined;
}

/** Do the two ranges not contradict each other? Sizes and versions that are unknown are ignored. */
export function isSameFile(one: ContentRange, other: ContentRange): boolean {
  return agree(one.totalBytes, other.totalBytes) && agree(one.version, other.version);
}

/** Are both ranges certainly from the same version of the file? */
export function isCertainlySame(one: ContentRange, other: ContentRange): boolean {
  return one.version !== undefined && one.version === other.version && isSameFile(one, other);
}

function agree<T>(one: T | undefined, other: T | undefined): boolean {
  return one === undefined || other === undefined || one === other;
}
