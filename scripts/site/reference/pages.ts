import { publicNames, type PublicName } from './project.js';
import { anchorOf, describeResource, resourcesOf, type Resource } from './methods.js';
import { describeName } from './types.js';
import { cell, summaryOf, type AddressOf } from './text.js';

/** A page of the reference; its path is below `reference/`. */
export interface ReferencePage {
  readonly path: string;
  readonly title: string;
  readonly text: string;
}

interface Draft {
  readonly path: string;
  readonly title: string;
  readonly resources: Resource[];
  readonly names: PublicName[];
}

/** The reference: a page for each resource with its types, and one for each other part. */
export async function referencePages(): Promise<ReferencePage[]> {
  const names = await publicNames();
  const drafts = draftsOf(names);
  const pageOf = new Map(drafts.flatMap((one) => one.names.map(({ name }) => [name, one.path])));
  const addressFrom = (): AddressOf => (name) => {
    const target = pageOf.get(name);
    return target === undefined ? undefined : `/reference/${target}.md#${name}`;
  };
  const pages = await Promise.all(drafts.map((draft) => write(draft, addressFrom())));
  return [overview(drafts), ...pages];
}

function draftsOf(names: readonly PublicName[]): Draft[] {
  const resources = clients.flatMap(([path, name]) => {
    const client = names.find((one) => one.name === name);
    return client === undefined ? [] : resourcesOf(path, client.reflection);
  });
  const drafts = new Map<string, Draft>();
  const draftAt = (path: string): Draft => {
    const known = drafts.get(path) ?? { path, title: titleOf(path), resources: [], names: [] };
    drafts.set(path, known);
    return known;
  };
  resources.forEach((one) => draftAt(pageOfResource(one.path)).resources.push(one));
  const own = new Set(resources.map(({ reflection }) => reflection));
  names
    .filter(({ reflection }) => !own.has(reflection))
    .forEach((one) => draftAt(pageOfFile(one)).names.push(one));
  return [...drafts.values()].sort((one, other) => order(one) - order(other));
}

const clients = [
  ['messaging', 'MessagingClient'],
  ['media', 'MediaClient'],
] as const;

function pageOfResource(path: string): string {
  const [service = '', resource = 'client'] = path.split('.');
  return `${service}/${resource}`;
}

/** Types stand on the page of the resource that they belong to. */
function pageOfFile({ file, door }: PublicName): string {
  const [folder = '', inner = ''] = file.split('/');
  if (door === 'postreel/schemas') {
    return 'schemas';
  }
  if (folder === 'messaging') {
    const isOfClient = inner.includes('.') || ['shared', 'emails'].includes(inner);
    return isOfClient ? 'messaging/client' : `messaging/${inner}`;
  }
  if (folder === 'media') {
    const isPart = ['generate', 'queue', 'jobs', 'status'].includes(inner);
    return isPart ? `media/${inner}` : 'media/client';
  }
  if (door !== 'postreel') {
    return door.replace('postreel/', '').replace('/', '-');
  }
  return folder === 'errors' ? 'errors' : 'shared';
}

function titleOf(path: string): string {
  const titles: Readonly<Record<string, string>> = {
    'messaging/client': 'MessagingClient',
    'media/client': 'MediaClient',
    errors: 'Errors',
    shared: 'Calls, lists and options',
  };
  const [service = '', resource] = path.split('/');
  return (
    titles[path] ?? (resource ? `${service}: ${resource}` : `postreel/${service.replace('-', '/')}`)
  );
}

function order({ path }: Draft): number {
  const starts = ['messaging/client', 'messaging/', 'media/client', 'media/', 'shared', 'errors'];
  const at = starts.findIndex((start) => path.startsWith(start));
  return at === -1 ? starts.length : at;
}

async function write(draft: Draft, addressOf: AddressOf): Promise<ReferencePage> {
  const { path, title, resources, names } = draft;
  const described = await Promise.all(
    resources.map(async (one) => `## ${one.path}\n\n${await describeResource(one, addressOf)}`),
  );
  const sorted = [...names].sort((one, other) => (one.name < other.name ? -1 : 1));
  const types = sorted.map((one) => describeName(one, addressOf));
  const heading = types.length > 0 && described.length > 0 ? ['## Types'] : [];
  const text = [`# ${title}`, ...described, ...heading, ...types].join('\n\n');
  return { path, title, text: `---\noutline: [2, 3]\n---\n\n${text}\n` };
}

function overview(drafts: readonly Draft[]): ReferencePage {
  const rows = drafts.map(({ path, title, resources, names }) => {
    const first = resources[0];
    const about = first ? summaryOf(first.reflection.comment, () => undefined) : '';
    const listed = names.slice(0, 6).map(({ name }) => `\`${name}\``);
    return `| [${title}](${path}.md) | ${cell(firstSentence(about) || listed.join(', '))} |`;
  });
  const text = ['# Reference', intro, '| page | |\n| - | - |', rows.join('\n')];
  return {
    path: 'index',
    title: 'Reference',
    text: `${text.slice(0, 2).join('\n\n')}\n\n${text.slice(2).join('\n')}\n`,
  };
}

function firstSentence(text: string): string {
  return /^[\s\S]*?\.(?=\s|$)/.exec(text)?.[0] ?? text;
}

const intro = `Every method with its request, key, fields, errors and an example; every public type on the page of
the resource that uses it. Press <kbd>/</kbd> and type a method (\`messaging.contacts.list\`) or an
endpoint (\`GET /contacts\`).`;

export { anchorOf };
