import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseEnv } from 'node:util';

/** The variables that a command may read. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** The variables of `.env` in this folder; those of the process come first. */
export function readEnvironment(process: NodeJS.ProcessEnv, folder: string): Environment {
  const file = join(folder, '.env');
  const own = existsSync(file) ? parseEnv(readFileSync(file, 'utf8')) : {};
  const set = Object.entries(process).filter(([, value]) => value !== undefined && value !== '');
  return { ...own, ...Object.fromEntries(set) };
}

const secrets = ['MESSAGING_API_KEY', 'MEDIA_API_KEY'] as const;

/** Takes the keys out of a text that is about to be printed. */
export function withoutKeys(text: string, environment: Environment): string {
  const keys = secrets.map((name) => environment[name] ?? '').filter((key) => key !== '');
  return keys.reduce((clean, key) => clean.replaceAll(key, '[key]'), text);
}
