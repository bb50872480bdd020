import {
  email,
  filled,
  oneOf,
  required,
  text,
  wrong,
  type Complaint,
  type Rule,
} from '../core/checks.js';
import type { FakeRequest, Handlers } from '../core/types.js';
import { isVerifiedSender } from './domains.js';
import { invalidParameter } from './lists.js';
import { crud, findOwn, readBody, stamps } from './resource.js';
import type { Project, Scope, Template } from './state.js';

const types = ['TRANSACTIONAL', 'MARKETING'];

const ofProject = ({ templates }: Project) => templates;

export const handlers: Handlers<Scope> = {
  ...crud<Template>({
    name: 'templates',
    style: 'page',
    of: ofProject,
    filter: filterOf,
    create: (scope, request) => ({
      // messaging, Templates: all four are required.
      ...readBody(request, {
        name: required(filled()),
        subject: required(subject),
        body: required(filled()),
        type: required(oneOf(...types)),
        ...senderRules(scope),
      }),
      id: scope.world.id('tpl'),
      ...stamps(scope),
    }),
    change: (scope, request) =>
      readBody(request, {
        name: text,
        subject,
        body: text,
        type: oneOf(...types),
        ...senderRules(scope),
      }),
  }),

  'POST /templates/{id}/duplicate': (request, scope) => {
    const original = findTemplate(scope, request);
    const id = scope.world.id('tpl');
    const copy = { ...original, id, name: `${original.name} (copy)`, ...stamps(scope) };
    scope.project.templates.set(id, copy);
    // messaging, Templates: returns the new template id.
    return { status: 201, body: { id } };
  },

  'GET /templates/{id}/usage': (request, scope) => ({
    body: templateUsage(scope, findTemplate(scope, request)),
  }),
};

function findTemplate(scope: Scope, request: FakeRequest): Template {
  return findOwn(scope, ofProject, request.params.id);
}

function filterOf({ query }: FakeRequest): (template: Template) => boolean {
  const type = query.get('type');
  if (type !== null && !types.includes(type)) {
    throw invalidParameter('type', `\`type\` must be one of ${types.join(', ')}.`);
  }
  // The fields that `search` covers are not shown: name and subject, case-insensitive.
  const search = query.get('search')?.toLowerCase() ?? '';
  return (template) =>
    (type === null || template.type === type) &&
    `${template.name}\n${template.subject}`.toLowerCase().includes(search);
}

/** A template's sender and reply-to, which /v1/send can use; only the field name `from` is shown. */
function senderRules({ project }: Scope) {
  return { from: verifiedEmail(project), fromName: text, replyTo: email };
}

/** messaging, Template and Campaign: `from` must be on a verified domain. */
export const verifiedEmail = (project: Project): Rule<string> => ({
  check(value) {
    const complaints = email.check(value);
    return complaints.length > 0 || isVerifiedSender(project, String(value))
      ? complaints
      : wrong('must be on a verified domain.', 'unverified_domain');
  },
});

/** messaging, Limits: a subject has 1 to 998 characters and no newline. */
export const subject: Rule<string> = {
  check(value): readonly Complaint[] {
    const complaints = filled(998).check(value);
    return complaints.length === 0 && /[\r\n]/.test(String(value))
      ? wrong('must not contain a line break.', 'invalid_format')
      : complaints;
  },
};

/** messaging, Templates: the campaigns and workflow steps that reference a template. */
function templateUsage({ project }: Scope, { id }: Template): object {
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
