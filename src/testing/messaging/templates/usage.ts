import type { Scope, Template } from '../state.js';

/** messaging, Templates: the campaigns and workflow steps that reference a template. */
export function templateUsage({ project }: Scope, { id }: Template): object {
  // How a campaign references a template is not shown: by a `templateId` of its own.
  const campaigns = [...project.campaigns.values()].filter(({ templateId }) => templateId === id);
  const workflowSteps = [...project.workflows.values()].flatMap((workflow) =>
    [...workflow.steps.values()]
      .filter((step) => usesTemplate({ ...step, ...step.config }, id))
      .map((step) => ({
        workflowId: workflow.id,
        workflowName: workflow.name,
        stepId: step.id,
        ...(step.name !== undefined && { stepName: step.name }),
      })),
  );
  return {
    campaigns: campaigns.map(({ id: campaignId, name, status }) => ({
      id: campaignId,
      name,
      status,
    })),
    workflowSteps,
  };
}

function usesTemplate({ templateId, template }: Record<string, unknown>, id: string): boolean {
  return templateId === id || template === id;
}
