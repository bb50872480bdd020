import { slugify } from '../../site/.vitepress/markdown.js';
import { titleOf, type Page } from './pages.js';

export interface Item {
  readonly text: string;
  readonly link?: string;
  readonly items?: readonly Item[];
  readonly collapsed?: boolean;
}

/** What people read who use the package. */
export const guides: Readonly<Record<string, readonly string[]>> = {
  'Getting started': ['start', 'clients', 'errors', 'lists', 'testing', 'cli'],
  Email: ['messaging', 'emails', 'contacts', 'campaigns', 'workflows', 'traps'],
  'Video and speech': ['media', 'waiting', 'many-videos', 'journal', 'webhooks'],
  'Web pages': ['tracker', 'tracker-script', 'tracker-native', 'tracker-proxy', 'tracker-measured'],
  'In production': ['runtimes', 'node', 'scale', 'engines', 'tracing', 'agents'],
  About: ['why', 'migrating', 'changelog'],
  Details: ['endpoints', 'open-records'],
};

/** What people read who change the package; the decisions are theirs too. */
export const maintainers: readonly string[] = ['contributing', 'versioning', 'tracker-protocol'];

/** What stands beside each page: guides, recipes and examples, or the pages of maintainers. */
export function sidebarOf(pages: readonly Page[]): Readonly<Record<string, readonly Item[]>> {
  const titles = new Map(pages.map(({ path, text }) => [path, titleOf(text)]));
  const item = (path: string): Item => ({
    text: path === 'start.md' ? 'Start' : (titles.get(path) ?? path),
    link: `/${path.replace(/\.md$/, '')}`,
  });
  const below = (folder: string) =>
    pages
      .map(({ path }) => path)
      .filter((path) => path.startsWith(`${folder}/`) && !path.endsWith('/index.md'))
      .map(item);
  const items = (names: readonly string[]) => names.map((name) => item(`${name}.md`));
  const chapters = Object.entries(guides).map(([text, names]) => ({ text, items: items(names) }));
  const maintaining = [
    { text: 'For maintainers', items: items(maintainers) },
    { text: 'Decisions', items: below('decisions') },
  ];
  const recipes = [
    { text: 'Recipes', link: '/recipes/', items: below('recipes') },
    { text: 'Examples', link: '/examples/', items: below('examples') },
  ];
  return {
    '/recipes/': recipes,
    '/examples/': recipes,
    ...Object.fromEntries(
      ['decisions/', ...maintainers].map((path) => [`/${path}`, maintaining] as const),
    ),
    '/': [...chapters, { text: 'For maintainers', link: '/contributing' }],
  };
}

/** Each group leads to its part of the page above: what only opens is no control within a control. */
export function withLinks(item: Item, above = ''): Item {
  const { text, link = `${above}#${slugify(text)}`, items } = item;
  return items ? { ...item, link, items: items.map((inner) => withLinks(inner, link)) } : item;
}
