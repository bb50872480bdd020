import type { Call, RequestOptions } from '../../contract/call.js';
import type { MethodsFor } from '../../contract/methods.js';
import type { Paginated } from '../../contract/paginated.js';
import type { Transport } from '../../transport/transport.js';
import { routes } from './routes.js';
import type {
  DuplicatedTemplate,
  Template,
  TemplateCreate,
  TemplateQuery,
  TemplateUpdate,
  TemplateUsage,
} from './types.js';

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

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Lists templates. `await` it for one page, `for await` it for every template. */
  list(query?: TemplateQuery, options?: RequestOptions): Paginated<Template> {
    return this.#transport.pages(routes.list, { query }, options);
  }

  /** Creates a template. */
  create(body: TemplateCreate, options?: RequestOptions): Call<Template> {
    return this.#transport.send(routes.create, { body }, options);
  }

  /** Gets one template by its id. */
  get(id: string, options?: RequestOptions): Call<Template> {
    return this.#transport.send(routes.get, { params: { id } }, options);
  }

  /** Changes a template. Fields that you leave out keep their values. */
  update(id: string, body: TemplateUpdate, options?: RequestOptions): Call<Template> {
    return this.#transport.send(routes.update, { params: { id }, body }, options);
  }

  /** Deletes a template. */
  delete(id: string, options?: RequestOptions): Call<void> {
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
}
