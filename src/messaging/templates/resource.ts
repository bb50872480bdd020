import type { Call, ListOptions, RequestOptions, Paginated } from '../../core/types.js';
import type { MethodsFor } from '../../core/route.js';
import type { Acknowledgement } from '../../core/values.js';
import type { Transport } from '../../core/send.js';
import { toRequestBody } from '../shared/request-body.js';
import { routes } from './routes.js';
import {
  renderText,
  variablesOf,
  type RenderedTemplate,
  type TemplateVariables,
} from './template-text.js';
import type { TextCheck } from './text-check.js';
import type {
  DuplicatedTemplate,
  Template,
  TemplateCreate,
  TemplateQuery,
  TemplateUpdate,
  TemplateUsage,
} from './types.js';

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
