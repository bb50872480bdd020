import type { Project } from '../state.js';
import { isRecord } from '../validate.js';

/** How a thing is referenced. */
export interface Reference {
  /** In a filter element, or in the configuration of a trigger or step. */
  inFilter(element: Readonly<Record<string, unknown>>): boolean;
  /** In the subject or body of a campaign. */
  readonly inText?: RegExp;
}

interface Named {
  readonly id: string;
  readonly name: string;
}

/** Which segments, campaigns and workflows refer to a thing; the shape of the answer is not shown. */
export function usageOf(project: Project, reference: Reference): Record<string, Named[]> {
  const refers = (value: unknown) => mentions(value, reference);
  return {
    segments: pick(project.segments, ({ condition }) => refers(condition)),
    campaigns: pick(
      project.campaigns,
      ({ audienceFilter, subject, body }) =>
        refers(audienceFilter) || reference.inText?.test(`${subject}\n${body}`) === true,
    ),
    workflows: pick(
      project.workflows,
      ({ triggerConfig, steps }) =>
        refers(triggerConfig) || [...steps.values()].some(({ config }) => refers(config)),
    ),
  };
}

function pick<Item extends Named>(
  items: ReadonlyMap<string, Item>,
  isWanted: (item: Item) => boolean,
): Named[] {
  return [...items.values()].filter(isWanted).map(({ id, name }) => ({ id, name }));
}

/** The structure of conditions is not shown, so that every level is looked at. */
function mentions(value: unknown, reference: Reference): boolean {
  if (Array.isArray(value)) {
    return value.some((part) => mentions(part, reference));
  }
  if (!isRecord(value)) {
    return false;
  }
  if (reference.inFilter(value)) {
    return true;
  }
  return Object.values(value).some((part) => mentions(part, reference));
}
