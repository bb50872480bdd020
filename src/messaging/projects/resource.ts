import type { Call, ListOptions, RequestOptions, Paginated } from '../../core/types.js';
import { invalidRequest, type InvalidRequestError } from '../../core/errors.js';
import type { MethodsFor } from '../../core/route.js';
import { isRecord, type Acknowledgement } from '../../core/values.js';
import { flag } from '../../core/options.js';
import type { Transport } from '../../core/send.js';
import { toRequestBody } from '../shared/request-body.js';
import { ProjectBilling } from './billing.js';
import { ProjectMembers } from './members.js';
import { routes } from './routes.js';
import { findNewKey } from './swap-key.js';
import type {
  Project,
  ProjectCreate,
  ProjectKeys,
  ProjectQuery,
  ProjectReset,
  ProjectSecurityReport,
  ProjectSecurityState,
  ProjectSetupState,
  ProjectUpdate,
  RegenerateOptions,
} from './types.js';

const back = { answerOnly: ['id', 'createdAt', 'updatedAt'] };

/**
 * The projects of an account. Calls need a secret key or the session of `auth.login()`.
 * @example
 * const project = await messaging.projects.create({ name: 'Shop' });
 * await messaging.projects.members.invite('prj_1', { email: 'ann@example.com' });
 */
export class Projects implements MethodsFor<typeof routes> {
  /** The billing of a project: limits, usage and invoices. */
  readonly billing: ProjectBilling;
  /** The members of a project. */
  readonly members: ProjectMembers;
  readonly #transport: Transport;

  readonly #warn: (message: string) => void;

  constructor(transport: Transport, warn: (message: string) => void) {
    this.#transport = transport;
    this.#warn = warn;
    this.billing = new ProjectBilling(transport);
    this.members = new ProjectMembers(transport);
  }

  /** Lists projects. `await` it for one page, `for await` it for every project. */
  list(query?: ProjectQuery, options?: ListOptions): Paginated<Project> {
    return this.#transport.pages(routes.list, { query }, options);
  }

  /** Creates a project. */
  create(body: ProjectCreate | Project, options?: RequestOptions): Call<Project> {
    return this.#transport.send(
      routes.create,
      { body: toRequestBody<ProjectCreate>(body, back) },
      options,
    );
  }

  /** Changes the settings of a project. */
  update(id: string, body: ProjectUpdate | Project, options?: RequestOptions): Call<Project> {
    return this.#transport.send(
      routes.update,
      { params: { id }, body: toRequestBody<ProjectUpdate>(body, back) },
      options,
    );
  }

  /** Deletes a project. */
  delete(id: string, options?: RequestOptions): Call<Acknowledgement> {
    return this.#transport.send(routes.delete, { params: { id } }, options);
  }

  /**
   * Replaces both keys of a project, secret and public; the old ones stop working. With `swapKey`,
   * this client and those derived from it by `with()` switch to the new key; without it they keep
   * the old one.
   */
  regenerateKeys(id: string, options?: RegenerateOptions): Call<ProjectKeys> {
    const input = {
      params: { id },
      before: { options: { swapKey: flag }, run: () => Promise.resolve() },
    };
    return this.#transport.send(routes.regenerateKeys, input, options).map((keys) => {
      if (options?.swapKey) {
        this.#transport.swapKey(routes.regenerateKeys, (current) => findNewKey(keys, current));
      }
      return keys;
    });
  }

  /** Gets bounce and complaint rates and recent suspensions. */
  securityReport(id: string, options?: RequestOptions): Call<ProjectSecurityReport> {
    return this.#transport.send(routes.securityReport, { params: { id } }, options);
  }

  /**
   * Wipes all data of a project. This cannot be undone. `confirm` must be the id of the project; without
   * it the call is made with a `warning` that names the project.
   */
  reset(id: string, body?: ProjectReset, options?: RequestOptions): Call<Acknowledgement> {
    const { confirm, rest } = confirmationIn(body);
    if (confirm === undefined) {
      this.#warn(`Project ${id} is reset without \`confirm\`. Use \`reset(id, { confirm: id })\`.`);
    }
    const input = { params: { id }, body: rest };
    const isOther = confirm !== undefined && confirm !== id;
    const before = { run: () => Promise.reject(notConfirmed(id)) };
    const guard = isOther ? { before } : {};
    return this.#transport.send(routes.reset, { ...input, ...guard }, options);
  }

  /** Gets the setup progress of a project. */
  setupState(id: string, options?: RequestOptions): Call<ProjectSetupState> {
    return this.#transport.send(routes.setupState, { params: { id } }, options);
  }

  /** Gets the state of a project's security. */
  securityState(id: string, options?: RequestOptions): Call<ProjectSecurityState> {
    return this.#transport.send(routes.securityState, { params: { id } }, options);
  }
}

// The confirmation is for us: a body without anything else is none.
function confirmationIn(body: ProjectReset | undefined) {
  if (!isRecord(body)) {
    return { confirm: undefined, rest: body };
  }
  const { confirm, ...rest } = body;
  return { confirm, rest: Object.keys(rest).length > 0 ? rest : undefined };
}

function notConfirmed(id: string): InvalidRequestError {
  const message = `must be "${id}", the project to reset`;
  return invalidRequest([{ field: 'confirm', message }], {
    method: 'POST',
    path: routes.reset.path,
  });
}
