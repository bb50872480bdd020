import { readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import MiniSearch from 'minisearch';
import { searchOptions, tokenize } from '../../../site/.vitepress/search.js';
import { readEndpoints } from '../../endpoints.js';
import { anchorOf } from '../reference/pages.js';

/** Methods that the search of the site does not list first, by their name or by their endpoint. */
export async function unfoundMethods(folder: string): Promise<string[]> {
  const index = await searchIndex(folder);
  const first = (query: string) => String(index.search(query, searchOptions)[0]?.id);
  return readEndpoints().flatMap(({ sdk, method, path }) =>
    [sdk, `${sdk}()`, `${method} ${path}`]
      .filter((query) => !first(query).endsWith(`#${anchorOf(sdk)}`))
      .map((query) => `a search for "${query}" finds ${first(query)} first`),
  );
}

async function searchIndex(folder: string): Promise<MiniSearch> {
  const chunks = join(folder, 'assets/chunks');
  const name = readdirSync(chunks).find((file) => file.startsWith('@localSearchIndex'));
  const module = (await import(pathToFileURL(resolve(chunks, name ?? 'none')).href)) as {
    default: string; // as: what VitePress writes
  };
  const fields = { fields: ['title', 'titles', 'text'], storeFields: ['title', 'titles'] };
  return MiniSearch.loadJSON(module.default, { ...fields, tokenize });
}
