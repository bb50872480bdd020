import type { Logger } from '../contract/events.js';
import { environment } from './settings.js';

const levels = ['debug', 'info', 'warn', 'error'] as const;

/** The logger that was given, or the console when `POSTREEL_LOG` asks for it. */
export function loggerOf(given: Logger | undefined): Logger | undefined {
  if (given !== undefined && given !== console) {
    return given;
  }
  const asked = given ? 'debug' : environment('POSTREEL_LOG');
  const lowest = levels.findIndex((level) => level === asked);
  return lowest < 0 ? undefined : consoleFrom(levels.slice(lowest));
}

// A console would spread the facts of each event over many lines.
function consoleFrom(wanted: readonly (typeof levels)[number][]): Logger {
  const write = (level: (typeof levels)[number]) => (message: string, facts?: object) => {
    console[level](message + words(facts));
  };
  return Object.fromEntries(wanted.map((level) => [level, write(level)]));
}

function words(facts: object = {}): string {
  return Object.entries(facts)
    .filter(([name, value]) => value !== undefined && name !== 'method' && name !== 'path')
    .map(([name, value]) => ` ${name}=${word(value)}`)
    .join('');
}

function word(value: unknown): string {
  if (value instanceof Error) {
    return `"${value.message}"`;
  }
  return typeof value === 'number' ? String(Math.round(value)) : JSON.stringify(value);
}
