import type { MessagingBehavior } from '../../behavior/messaging.js';
import { isRecord } from '../validate.js';
import type { WorkflowStep } from '../state.js';

type Fields = Readonly<Record<string, unknown>>;

/** What a step is configured with, in the names that the engine knows. */
export function configOf(style: MessagingBehavior['stepConfig'], step: WorkflowStep): Fields {
  if (style === 'config') {
    return { ...step, ...step.config };
  }
  const settings = isRecord(step.settings) ? step.settings : {};
  const entries = Object.entries(settings).map(([name, value]) => read(name, value));
  return Object.fromEntries(entries);
}

/** What such a service calls the fields of a step, and how it writes a time. */
function read(name: string, value: unknown): [string, unknown] {
  const isTime = name.endsWith('_minutes') && typeof value === 'number';
  return [names[name] ?? name, isTime ? value * 60_000 : value];
}

const names: Readonly<Record<string, string>> = {
  template_id: 'templateId',
  subject_line: 'subject',
  html: 'body',
  wait_minutes: 'duration',
  event: 'eventName',
  timeout_minutes: 'timeout',
  filter: 'condition',
  endpoint: 'url',
  fields: 'data',
};
