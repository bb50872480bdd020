import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { format, resolveConfig } from 'prettier';

export const page = 'docs/endpoints.md';
export const namesFile = 'src/testing/endpoint-names.ts';

export interface Endpoint {
  readonly service: string;
  readonly method: string;
  readonly path: string;
  readonly sdk: string;
  readonly key: string;
  readonly repeatable: boolean;
}

export function readEndpoints(root = '.'): readonly Endpoint[] {
  const text = readFileSync(`${root}/src/testing/endpoints.json`, 'utf8');
  return JSON.parse(text) as readonly Endpoint[]; // as: our own file
}

/** The page that lists the method for each endpoint. */
export async function describeEndpoints(endpoints: readonly Endpoint[]): Promise<string> {
  const style = await resolveConfig(page);
  const sections = [...new Set(endpoints.map(({ service }) => service))].map(
    (service) => `## ${service}\n\n${table(endpoints.filter((one) => one.service === service))}`,
  );
  return format([heading, ...sections].join('\n\n'), { ...style, parser: 'markdown' });
}

const heading = `# Endpoints

Made by \`npm run api\`: the method for each endpoint of both services. "Retried" says whether the
client may send the request again when it cannot know whether the first one took effect.`;

function table(endpoints: readonly Endpoint[]): string {
  const rows = endpoints.map(
    ({ sdk, method, path, key, repeatable }) =>
      `| \`${sdk}()\` | \`${method} ${path}\` | ${key.replaceAll('-', ' ')} | ${repeatable ? 'yes' : 'no'} |`,
  );
  return ['| method | request | key | retried |', '| - | - | - | - |', ...rows].join('\n');
}

/** The names of the endpoints as a type, which an editor completes. */
export async function namesOfEndpoints(endpoints: readonly Endpoint[]): Promise<string> {
  const names = endpoints.map(({ method, path }) => `  | '${method} ${path}'`);
  const text = `${namesHeading}\nexport type EndpointName =\n${names.join('\n')};\n`;
  return format(text, { ...(await resolveConfig(namesFile)), parser: 'typescript' });
}

const namesHeading =
  '// Made of endpoints.json by `npm run api`.\n\n' +
  '/** An endpoint of the services, as the endpoint table spells it. @hidden */';

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const endpoints = readEndpoints();
  write(page, await describeEndpoints(endpoints));
  write(namesFile, await namesOfEndpoints(endpoints));
}

function write(file: string, text: string): void {
  const isChanged = !existsSync(file) || text !== readFileSync(file, 'utf8');
  writeFileSync(file, text);
  console.log(`${file}: ${isChanged ? 'changed' : 'unchanged'}`);
}
