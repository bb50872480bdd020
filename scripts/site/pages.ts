import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';

/** A page of the site: where it comes from, where it goes below `site/pages`, and its Markdown. */
export interface Page {
  readonly path: string;
  readonly text: string;
}

/** Every document of the repository as a page, with links that hold within the site. */
export function documentPages(): Page[] {
  const addresses = new Map(sources().map(({ source, path }) => [source, path]));
  return sources().map(({ source, path }) => {
    const text = source.endsWith('.ts') ? examplePage(source) : readFileSync(source, 'utf8');
    const linked = relinked(withPictures(text), { source, path, addresses });
    return { path, text: isSearched(path) ? linked : outOfSearch(linked) };
  });
}

/** Lists of everything contain every word, and decisions are for maintainers: the search leaves them out. */
function isSearched(path: string): boolean {
  return !['open-records.md', 'changelog.md'].includes(path) && !path.startsWith('decisions/');
}

/** A page that the search leaves out. */
export function outOfSearch(text: string): string {
  return `---\nsearch: false\n---\n\n${text}`;
}

interface Source {
  readonly source: string;
  readonly path: string;
}

function sources(): Source[] {
  const inFolder = (folder: string, to: string) =>
    readdirSync(folder)
      .filter((name) => name.endsWith('.md'))
      .map((name) => ({ source: `${folder}/${name}`, path: `${to}${name}` }));
  const examples = readdirSync('examples').filter((name) => name.endsWith('.ts'));
  return [
    { source: 'README.md', path: 'start.md' },
    { source: 'CONTRIBUTING.md', path: 'contributing.md' },
    { source: 'CHANGELOG.md', path: 'changelog.md' },
    ...inFolder('docs', ''),
    ...inFolder('docs/recipes', 'recipes/'),
    ...inFolder('docs/decisions', 'decisions/'),
    ...examples.map((name) => ({
      source: `examples/${name}`,
      path: `examples/${name.replace('.ts', '.md')}`,
    })),
    { source: 'examples/worker/bullmq.ts', path: 'examples/worker-bullmq.md' },
    { source: 'examples/worker/pg-boss.ts', path: 'examples/worker-pg-boss.md' },
    { source: 'examples/tracker-page/server.ts', path: 'examples/tracker-page.md' },
  ];
}

/** An example as a page: its first line says what it is about. */
function examplePage(source: string): string {
  const code = readFileSync(source, 'utf8').trimEnd();
  const about = /^\/\/ (.*)/.exec(code)?.[1] ?? source;
  const title = about.replace(/[.,:;].*$/, '');
  return `# ${title}\n\n\`${source}\`\n\n\`\`\`ts\n${code}\n\`\`\`\n`;
}

/** What is drawn elsewhere instead of in the page. */
function withPictures(text: string): string {
  return text.replace(
    /```mermaid\nstateDiagram[\s\S]*?```/,
    '![The states of a tracked event, and what leads from one to the next](images/tracker-protocol.svg)',
  );
}

const fixed: Readonly<Record<string, string>> = { examples: '/examples/index.md' };

interface Place extends Source {
  readonly addresses: ReadonlyMap<string, string>;
}

/** Links between files become links between pages; files that are no page lose their link. */
function relinked(text: string, place: Place): string {
  return outsideCode(text, (prose) =>
    prose.replace(
      /(!?)\[([^\]]*)\]\(([^)\s]+)\)/g,
      (all, mark: string, label: string, to: string) => {
        if (/^(https?:|mailto:|#)/.test(to)) {
          return all;
        }
        if (mark === '!') {
          return `![${label}](/${join('images', to.split('/').at(-1) ?? '')})`;
        }
        const [file = '', anchor] = to.split('#');
        const target = targetOf(file, place);
        return target === undefined ? label : `[${label}](${target}${anchor ? `#${anchor}` : ''})`;
      },
    ),
  );
}

function targetOf(file: string, { source, addresses }: Place): string | undefined {
  const path = normalize(join(dirname(source), file)).replace(/\/$/, '');
  const page = addresses.get(path);
  return fixed[path] ?? (page === undefined ? undefined : `/${page}`);
}

function outsideCode(text: string, change: (prose: string) => string): string {
  return text
    .split(/(^```[\s\S]*?^```)/m)
    .map((part, at) => (at % 2 === 0 ? change(part) : part))
    .join('');
}

/** The page that lists the examples. */
export function examplesPage(pages: readonly Page[]): Page {
  const rows = pages
    .filter(({ path }) => path.startsWith('examples/'))
    .map(({ path, text }) => `- [${titleOf(text)}](/${path})`);
  const intro = 'One task each. Our tests run all of them.';
  return { path: 'examples/index.md', text: `# Examples\n\n${intro}\n\n${rows.join('\n')}\n` };
}

export function titleOf(text: string): string {
  return /^# (.+)$/m.exec(text)?.[1]?.replaceAll('`', '') ?? '';
}
