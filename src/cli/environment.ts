import { existsSync, readFileSync, statSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { ConfigurationError } from 'postreel';
import { CommandEnd } from './exit-codes.js';

/** The variables that a command may read. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** The variables of `.env` in this folder; those of the process come first. */
export function readEnvironment(process: NodeJS.ProcessEnv, folder: string): Environment {
  const set = Object.entries(process).filter(([, value]) => value !== undefined && value !== '');
  return { ...readEnvFile(join(folder, '.env')), ...Object.fromEntries(set) };
}

/** The variables of a file; an empty object if the file does not exist. */
export function readEnvFile(path: string): Record<string, string | undefined> {
  if (!existsSync(path)) {
    return {};
  }
  if (statSync(path).isDirectory()) {
    throw new CommandEnd('configuration', `${path} is a folder, not a file with settings.`);
  }
  try {
    return parseEnv(textOf(readFileSync(path)).text);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new CommandEnd('configuration', `${path} cannot be read: ${why}`);
  }
}

/** Reads the text of a file that an editor or PowerShell wrote, without its byte order mark. */
export async function readText(path: string): Promise<string> {
  return textOf(await readFile(path)).text;
}

/**
 * Detects the encoding of a text file: UTF-8, or UTF-16 as PowerShell writes it, with or without a byte order
 * mark.
 */
export function textOf(bytes: Buffer): { readonly text: string; readonly encoding: Encoding } {
  const [first, second] = bytes;
  const isBigEndian = first === 0xfe && second === 0xff;
  if (isBigEndian || (first === 0xff && second === 0xfe)) {
    const encoding = isBigEndian ? 'utf-16be' : 'utf-16le';
    return { text: new TextDecoder(encoding).decode(bytes), encoding };
  }
  // PowerShell appends UTF-16 to a file of any encoding. If its text is ASCII, it is enough to remove the
  // zero bytes.
  const plain = bytes.includes(0) ? bytes.filter((byte) => byte !== 0) : bytes;
  return { text: new TextDecoder().decode(plain), encoding: 'utf-8' };
}

export type Encoding = 'utf-8' | 'utf-16le' | 'utf-16be';

/** Encodes a text, with a byte order mark if the encoding needs one. */
export function bytesOf(text: string, encoding: Encoding): Buffer {
  if (encoding === 'utf-8') {
    return Buffer.from(text, 'utf8');
  }
  const bytes = Buffer.from(`\uFEFF${text}`, 'utf16le');
  return encoding === 'utf-16be' ? bytes.swap16() : bytes;
}

/** Sets variables in the environment of this process, where the code that it loads reads them. */
export function exportVariables(
  environment: Environment,
  names: readonly string[] = Object.keys(environment),
): void {
  for (const name of names) {
    const value = environment[name];
    if (value !== undefined && value !== '') {
      process.env[name] = value;
    }
  }
}

/** The variables of a service: its address and its key. */
export function variablesOf(service: 'messaging' | 'media'): readonly string[] {
  const prefix = service.toUpperCase();
  return [`${prefix}_BASE_URL`, `${prefix}_API_KEY`];
}

/** Rewrites the error of a client for a command: names the variables instead of the client's options. */
export function nameVariables(
  error: unknown,
  service: 'messaging' | 'media',
  environment: Environment,
): unknown {
  if (!(error instanceof ConfigurationError)) {
    return error;
  }
  const names = variablesOf(service);
  const missing = names.filter((name) => !environment[name]).join(' and ');
  const unset = `Set ${missing} in the environment or in .env of this folder. To try it without an account, run \`npx postreel fake --env .env\`.`;
  const sentences: Readonly<Record<string, string>> = {
    BASE_URL_MISSING: unset,
    API_KEY_MISSING: unset,
    PLAIN_HTTP: `A secret key must not be sent over plain http, where others can read it. Set ${String(names[0])} to an https address.`,
  };
  const { code, outcome } = error;
  const sentence = sentences[code];
  return sentence === undefined ? error : new ConfigurationError(sentence, { code, outcome });
}

const secrets = ['MESSAGING_API_KEY', 'MEDIA_API_KEY'] as const;

/** Removes the keys from a text before it is printed. */
export function removeKeys(text: string, environment: Environment): string {
  const keys = secrets.map((name) => environment[name] ?? '').filter((key) => key !== '');
  return keys.reduce((clean, key) => clean.replaceAll(key, '[key]'), text);
}
