import { isRecord } from '../../core/values.js';
import { rawIn } from './template-text.js';

/** Warns of what the service would mail as it stands. */
export type TextCheck = (body: unknown) => void;

// So many finds are remembered.
const maxTold = 1000;

/** A check of subjects and bodies that tells each find once: a mailing has the same one for everybody. */
export function createTextCheck(warn: (message: string) => void): TextCheck {
  const told = new Set<string>();
  return (body) => {
    for (const field of ['subject', 'body'] as const) {
      const text = isRecord(body) ? body[field] : undefined;
      const raw = typeof text === 'string' && /\{\{|\{%|%7B%7B/i.test(text) ? rawIn(text) : [];
      const found = [...new Set(raw)].filter((one) => !told.has(one));
      if (found.length > 0 && told.size < maxTold) {
        found.forEach((one) => told.add(one));
        const shown = found
          .slice(0, 5)
          .map((one) => `\`${one.slice(0, 60)}\``)
          .join(', ');
        warn(
          `\`${field}\` has ${shown}, which is no variable: the service sends it as it stands. Variables are \`{{name}}\` and \`{{name ?? "default"}}\`.`,
        );
      }
    }
  };
}
