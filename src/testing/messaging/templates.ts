import type { FakeRequest, Handlers } from '../core/types.js';
import { findOwn } from './find.js';
import { isVerifiedSender } from './domains.js';
import { invalidParameter, listAnswer } from './lists.js';
import type { Scope, Template } from './state.js';
import { given, readBody, type BodyFields } from './validate.js';

const types = ['TRANSACTIONAL', 'MARKETING'];

export const handlers: Handlers<Scope> = {
  'GET /templates': (request, scope) => {
    const items = [...scope.project.templates.values()].filter(filterOf(request));
    return listAnswer(scope, request, { items, name: 'templates', style: 'page' });
  },

  'POST /templates': (request, scope) => {
    const at = scope.world.clock.date().toISOString();
    const template = readBody(request, (fields) => ({
      id: scope.world.id('tpl'),
      // messaging, Templates: all four are required.
      name: fields.requiredText('name'),
      subject: fields.requiredText('subject'),
      body: fields.requiredText('body'),
      type: fields.requiredOneOf('type', types),
      ...readSender(scope, fields),
      createdAt: at,
      updatedAt: at,
    }));
    scope.project.templates.set(template.id, template);
    return { status: 201, body: template };
  },

  'GET /templates/{id}': (request, scope) => ({ body: findTemplate(scope, request) }),

  'PATCH /templates/{id}': (request, scope) => {
    const template = findTemplate(scope, request);
    const change = readBody(request, (fields) => ({
      ...given({
        name: fields.text('name'),
        subject: fields.text('subject'),
        body: fields.text('body'),
        type: fields.oneOf('type', types),
      }),
      ...readSender(scope, fields),
    }));
    return {
      body: Object.assign(template, change, { updatedAt: scope.world.clock.date().toISOString() }),
    };
  },

  'DELETE /templates/{id}': (request, scope) => {
    scope.project.templates.delete(findTemplate(scope, request).id);
    return { status: 204 };
  },

  'POST /templates/{id}/duplicate': (request, scope) => {
    const original = findTemplate(scope, request);
    const at = scope.world.clock.date().toISOString();
    const id = scope.world.id('tpl');
    const copy = { ...original, id, name: `${original.name} (copy)`, createdAt: at, updatedAt: at };
    scope.project.templates.set(id, copy);
    // messaging, Templates: returns the new template id.
    return { status: 201, body: { id } };
  },

  'GET /templates/{id}/usage': (request, scope) => ({
    body: templateUsage(scope, findTemplate(scope, request)),
  }),
};

function findTemplate(scope: Scope, request: FakeRequest): Template {
  return findOwn(scope, (project) => project.templates, request.params.id ?? '');
}

function filterOf({ query }: FakeRequest): (template: Template) => boolean {
  const type = query.get('type');
  if (type !== null && !types.includes(type)) {
    throw invalidParameter('type', `\`type\` must be one of ${types.join(', ')}.`);
  }
  // What `search` looks at is not shown: name and subject, without regard to case.
  const search = query.get('search')?.toLowerCase() ?? '';
  return (template) =>
    (type === null || template.type === type) &&
    `${template.name}\n${template.subject}`.toLowerCase().includes(search);
}

/** A template's sender and reply-to, which /v1/send can use; their names beside `from`: not shown. */
function readSender(scope: Scope, fields: BodyFields) {
  checkSubject(fields);
  const from = fields.email('from');
  if (from !== undefined && !isVerifiedSender(scope.project, from)) {
    fields.add('from', '`from` must be on a verified domain.', 'unverified_domain');
  }
  const fromName = fields.text('fromName');
  return given({ from, fromName, replyTo: fields.email('replyTo') });
}

const maxSubject = 998;

/** messaging, Limits: a subject has 1 to 998 characters and no newline. */
export function checkSubject(fields: BodyFields): void {
  const subject = fields.raw('subject');
  if (typeof subject !== 'string') {
    return;
  }
  if (subject === '') {
    fields.add('subject', '`subject` must not be empty.', 'too_short');
  }
  if (Array.from(subject).length > maxSubject) {
    fields.add('subject', `\`subject\` must have at most ${maxSubject} characters.`, 'too_long');
  }
  if (/[\r\n]/.test(subject)) {
    fields.add('subject', '`subject` must not contain a line break.', 'invalid_format');
  }
}

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
