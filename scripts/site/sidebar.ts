import { titleOf, type Page } from './pages.js';

interface Item {
  readonly text: string;
  readonly link?: string;
  readonly items?: readonly Item[];
  readonly collapsed?: boolean;
}

const guides: Readonly<Record<string, readonly string[]>> = {
  'Getting started': ['start', 'clients', 'errors', 'lists', 'testing', 'cli'],
  Services: ['messaging', 'media', 'tracker', 'webhooks'],
  Running: ['runtimes', 'node', 'scale'],
  About: ['why', 'migrating', 'versioning', 'changelog', 'contributing'],
  Details: ['endpoints', 'open-records', 'tracker-protocol'],
};

/** What stands beside each page: guides, recipes and examples. */
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
  const chapters = Object.entries(guides).map(([text, names]) => ({
    text,
    items: names.map((name) => item(`${name}.md`)),
  }));
  const recipes = [
    { text: 'Recipes', link: '/recipes/', items: below('recipes') },
    { text: 'Examples', link: '/examples/', items: below('examples') },
  ];
  return {
    '/recipes/': recipes,
    '/examples/': recipes,
    '/': [...chapters, { text: 'Decisions', collapsed: true, items: below('decisions') }],
  };
}
