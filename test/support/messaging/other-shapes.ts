import { isRecord } from '../../../src/core/values.js';
import type { Filter, StepDefinition, WorkflowMapping } from 'postreel';
import type { FilterParts } from '../../../src/messaging/shared/matches.js';
import type { MessagingBehavior } from 'postreel/testing';

/** A world that spells workflows and filters in another way than we do by default. */
export const otherShapes = {
  stepConfig: 'settings',
  requestNames: 'other',
  filterGroups: 'all-any',
  filterBooleans: 'boolean',
} as const satisfies Partial<MessagingBehavior>;

/** How its groups, and our own, are read. */
export function readGroups(group: Filter): FilterParts | undefined {
  if (!isRecord(group)) {
    return undefined;
  }
  const all = group['all'] ?? group['and'];
  const any = group['any'] ?? group['or'];
  const filters = (all ?? any) as readonly Filter[]; // as written above
  return { join: all ? 'and' : 'or', filters };
}

/** How its workflows are written and read. */
export const ownWorkflows: Partial<WorkflowMapping> = {
  step: (key, step) => ({ type: step.type, name: key, settings: settingsOf(step) }),
  transition: ({ fromStepId, toStepId, branch }) => ({
    sourceId: fromStepId,
    targetId: toStepId,
    branch,
  }),
};

const minutes = { minutes: 1, hours: 60, days: 1_440 } as const;

function settingsOf(step: StepDefinition): Record<string, unknown> {
  switch (step.type) {
    case 'SEND_EMAIL':
      return { template_id: step.template, subject_line: step.subject, html: step.body };
    case 'DELAY':
      return { wait_minutes: step.amount * minutes[step.unit] };
    case 'WAIT_FOR_EVENT': {
      const { event, timeout } = step;
      return { event, timeout_minutes: timeout && timeout.amount * minutes[timeout.unit] };
    }
    case 'CONDITION':
      return { filter: step.if };
    case 'WEBHOOK':
      return { endpoint: step.url };
    case 'UPDATE_CONTACT':
      return { fields: step.data };
    case 'EXIT':
      return {};
  }
}
