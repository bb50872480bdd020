import { numberedPage, ofType, route, type MethodsFor } from '../core/call/route.js';
import type { Acknowledgement, OpenInput, OpenRecord } from '../core/values.js';
import type { Call, ListOptions, RequestOptions, Paginated } from '../core/types.js';
import type { Transport } from '../core/call/send.js';
import { toRequestBody } from './shared/request-body.js';
import { normalizeEmailsIn } from './shared/values.js';
import {
  renderText,
  variablesOf,
  type RenderedTemplate,
  type TemplateVariables,
  type TextCheck,
} from './shared/template-text.js';

export const routes = {
  list: route('GET /templates', {
    query: ofType<TemplateQuery>(),
    returns: numberedPage<Template>('limit', 'templates'),
  }),
  create: route('POST /templates', {
    body: ofType<TemplateCreate | Template>(),
    normalize: normalizeEmailsIn('from'),
    returns: ofType<Template>(),
  }),
  get: route('GET /templates/{id}', { returns: ofType<Template>() }),
  update: route('PATCH /templates/{id}', {
    body: ofType<TemplateUpdate | Template>(),
    normalize: normalizeEmailsIn('from'),
    returns: ofType<Template>(),
  }),
  delete: route('DELETE /templates/{id}', { returns: ofType<Acknowledgement>() }),
  duplicate: route('POST /templates/{id}/duplicate', { returns: ofType<DuplicatedTemplate>() }),
  usage: route('GET /templates/{id}/usage', { returns: ofType<TemplateUsage>() }),
};

/** The purpose of a template. */
export type TemplateType = 'TRANSACTIONAL' | 'MARKETING';

/** An email template. The service does not document all of its fields. */
export interface Template extends OpenRecord {
  id: string;
  name: string;
  subject: string;
  /** HTML. */
  body: string;
  type: TemplateType | (string & {});
  /** The sender's address. */
  from?: string | null | undefined;
  /** ISO 8601. */
  createdAt?: string | undefined;
}

/**
 * A template to create. You may add fields that the service does not document. You may pass a template that a
 * method returned: its `id`, `createdAt` and `updatedAt` are left out, and so are fields that
 * are `null`.
 */
export interface TemplateCreate extends OpenInput {
  name: string;
  /** 1 to 998 characters, no line breaks. */
  subject: string;
  /** HTML. `{{plan}}` is filled in; `{{name ?? "default"}}` gives a default for a missing field. */
  body: string;
  type: TemplateType;
  /** The sender's address; its domain must be verified. */
  from?: string | null | undefined;
}

/**
 * Changes to a template. You may pass a template that a method returned: its `id`, `createdAt` and
 * `updatedAt` are left out.
 */
export interface TemplateUpdate extends OpenInput {
  name?: string | undefined;
  /** 1 to 998 characters, no line breaks. */
  subject?: string | undefined;
  /** HTML. */
  body?: string | undefined;
  type?: TemplateType | undefined;
  /** The sender's address; its domain must be verified. */
  from?: string | null | undefined;
}

/** Which templates to list. */
export interface TemplateQuery {
  /**
   * Templates per page, 1 to 100.
   * @default 20 when awaited, 100 when iterated
   */
  limit?: number | undefined;
  /** Where to continue: the `cursor` of a page or an iterator. */
  cursor?: string | undefined;
  type?: TemplateType | undefined;
  search?: string | undefined;
}

/** The copy of a template. The service documents only its id. */
export interface DuplicatedTemplate extends OpenRecord {
  id: string;
}

/** Where a template is used. The service does not document its fields. */
export interface TemplateUsage extends OpenRecord {}

const answerOnly = ['id', 'createdAt', 'updatedAt'];
const createBack = { answerOnly, dropNull: 'all', dropEmpty: ['from'] } as const;

/**
 * Email templates, filled in with a contact's data.
 * @example
 * const template = await messaging.templates.create({
 *   name: 'Welcome',
 *   subject: 'Welcome, {{name ?? "friend"}}',
 *   body: '<p>Your plan: {{plan}}</p>',
 *   type: 'TRANSACTIONAL',
 * });
 */
export class Templates implements MethodsFor<typeof routes> {
  readonly #transport: Transport;
  readonly #warn: (message: string) => void;
  readonly #checkTexts: TextCheck;

  constructor(
    transport: Transport,
    { warn, checkTexts }: { warn: (message: string) => void; checkTexts: TextCheck },
  ) {
    this.#transport = transport;
    this.#warn = warn;
    this.#checkTexts = checkTexts;
  }

  /** Lists templates. `await` it for one page, `for await` it for every template. */
  list(query?: TemplateQuery, options?: ListOptions): Paginated<Template> {
    return this.#transport.pages(routes.list, { query }, options);
  }

  /** Creates a template. */
  create(body: TemplateCreate | Template, options?: RequestOptions): Call<Template> {
    const sent = toRequestBody<TemplateCreate>(body, createBack);
    this.#checkTexts(sent);
    return this.#transport.send(routes.create, { body: sent }, options);
  }

  /** Gets one template by its id. */
  get(id: string, options?: RequestOptions): Call<Template> {
    return this.#transport.send(routes.get, { params: { id } }, options);
  }

  /** Changes a template. Fields that you leave out keep their values. */
  update(id: string, body: TemplateUpdate | Template, options?: RequestOptions): Call<Template> {
    const sent = toRequestBody<TemplateUpdate>(body, { answerOnly });
    this.#checkTexts(sent);
    return this.#transport.send(routes.update, { params: { id }, body: sent }, options);
  }

  /** Deletes a template. */
  delete(id: string, options?: RequestOptions): Call<Acknowledgement> {
    return this.#transport.send(routes.delete, { params: { id } }, options);
  }

  /** Duplicates a template and returns the id of the copy. */
  duplicate(id: string, options?: RequestOptions): Call<DuplicatedTemplate> {
    return this.#transport.send(routes.duplicate, { params: { id } }, options);
  }

  /** Lists the campaigns and workflow steps that use a template. */
  usage(id: string, options?: RequestOptions): Call<TemplateUsage> {
    return this.#transport.send(routes.usage, { params: { id } }, options);
  }

  /**
   * Finds the variables of a text without a request: `{{a}}`, `{{a.b}}` and `{{a ?? "fallback"}}`.
   * The syntax of other template languages is listed as not understood.
   */
  variables(text: string): TemplateVariables {
    return variablesOf(text);
  }

  /**
   * Previews a text locally, without a request. A variable without a value and without a fallback
   * is rendered as empty text, listed as missing, and emitted as a `warning`.
   */
  render(text: string, data: Readonly<Record<string, unknown>>): RenderedTemplate {
    const rendered = renderText(text, data);
    for (const path of rendered.missing) {
      this.#warn(`The template uses {{${path}}}, which has neither a value nor a fallback.`);
    }
    return rendered;
  }
}
