import table from '../endpoints.json' with { type: 'json' };

/** The endpoint that a method and path belong to, with the decoded path parameters. */
export interface Match {
  readonly endpoint: string;
  readonly params: Record<string, string>;
}

interface Pattern {
  readonly endpoint: string;
  readonly segments: readonly string[];
}

/** The endpoints of a service as the project's endpoint table has them, e.g. `GET /contacts/{id}`. */
export function endpointsOf(service: 'messaging' | 'media'): string[] {
  return table.filter((row) => row.service === service).map((row) => `${row.method} ${row.path}`);
}

/** Finds endpoints; a literal segment wins over a parameter. */
export function createRouter(
  endpoints: readonly string[],
): (method: string, path: string) => Match | undefined {
  const patterns = new Map<string, Pattern[]>();
  for (const endpoint of endpoints) {
    const [method = '', path = ''] = endpoint.split(' ');
    const pattern = { endpoint, segments: path.split('/') };
    const key = keyOf(method, pattern.segments);
    patterns.set(key, [...(patterns.get(key) ?? []), pattern].sort(literalsFirst));
  }
  return (method, path) => {
    const segments = path.split('/').map(decode);
    for (const pattern of patterns.get(keyOf(method, segments)) ?? []) {
      const params = match(pattern, segments);
      if (params !== undefined) {
        return { endpoint: pattern.endpoint, params };
      }
    }
    return undefined;
  };
}

const keyOf = (method: string, segments: readonly string[]) => `${method} ${segments.length}`;

const isParameter = (segment: string) => segment.startsWith('{');

/** The leftmost literal decides: `/contacts/fields` before `/contacts/{id}`. */
function literalsFirst(left: Pattern, right: Pattern): number {
  const rank = ({ segments }: Pattern) =>
    segments.map((s) => (isParameter(s) ? '1' : '0')).join('');
  return rank(left).localeCompare(rank(right));
}

function match(pattern: Pattern, segments: readonly string[]): Record<string, string> | undefined {
  const params: Record<string, string> = {};
  for (const [index, wanted] of pattern.segments.entries()) {
    const given = segments[index] ?? '';
    if (isParameter(wanted) && given !== '') {
      params[wanted.slice(1, -1)] = given;
    } else if (wanted !== given) {
      return undefined;
    }
  }
  return params;
}

function decode(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
