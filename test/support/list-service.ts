/** How a service spells its lists. */
export interface ListSpelling {
  readonly style: 'cursor' | 'page' | 'array' | 'cursor-and-totals';
  readonly itemsUnder: 'data' | 'own-name' | 'only-array';
  readonly lastPage: 'hasMore-false' | 'cursor-null' | 'cursor-absent' | 'cursor-empty';
  readonly total: 'first-page' | 'always' | 'never';
  readonly enveloped: boolean;
}

/** A list of numbered items, handed out page by page as a spelling says. */
export function listService(count: number, spelling: ListSpelling, ownName = 'contacts') {
  const requests: URL[] = [];
  const items = Array.from({ length: count }, (_, index) => ({ id: `item_${index}` }));
  const answer = (url: URL): unknown => {
    const size = Number(url.searchParams.get('limit') ?? url.searchParams.get('pageSize') ?? 20);
    if (spelling.style === 'array') {
      return items;
    }
    const page = Number(url.searchParams.get('page') ?? 1);
    const offset =
      spelling.style === 'page' ? (page - 1) * size : Number(url.searchParams.get('cursor') ?? 0);
    const slice = items.slice(offset, offset + size);
    const hasMore = offset + size < count;
    const name = { data: 'data', 'own-name': ownName, 'only-array': 'entries' }[
      spelling.itemsUnder
    ];
    const isFirst = offset === 0;
    return {
      [name]: slice,
      ...total(spelling, isFirst, count),
      ...(spelling.style === 'page'
        ? { page, pageSize: size, totalPages: Math.ceil(count / size), ...totalOf(count) }
        : cursor(spelling, hasMore, offset + size)),
      ...(spelling.style === 'cursor-and-totals' &&
        isFirst && { page: 1, pageSize: size, totalPages: Math.ceil(count / size) }),
    };
  };
  const fetch = (input: string | URL | Request) => {
    const url = new URL(input instanceof Request ? input.url : input);
    requests.push(url);
    const body = answer(url);
    return Promise.resolve(
      Response.json(spelling.enveloped ? { success: true, data: body } : body),
    );
  };
  return { fetch, requests, items };
}

function total({ total }: ListSpelling, isFirst: boolean, count: number): object {
  if (total === 'never') {
    return {};
  }
  return { total: total === 'always' || isFirst ? count : 0 };
}

// A page without a cursor needs its totals, so that the list can continue.
function totalOf(count: number): object {
  return { total: count };
}

function cursor({ lastPage }: ListSpelling, hasMore: boolean, next: number): object {
  if (hasMore) {
    return { cursor: String(next), ...(lastPage === 'hasMore-false' && { hasMore }) };
  }
  switch (lastPage) {
    case 'hasMore-false':
      return { cursor: String(next), hasMore: false };
    case 'cursor-null':
      return { cursor: null };
    case 'cursor-empty':
      return { cursor: '' };
    case 'cursor-absent':
      return {};
  }
}
