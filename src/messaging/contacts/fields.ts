import type { Call, RequestOptions } from '../../core/types.js';
import type { MethodsFor } from '../../core/route.js';
import type { Acknowledgement } from '../../core/values.js';
import type { Transport } from '../../core/send.js';
import { checkFields } from './check-fields.js';
import { routes } from './routes.js';
import type { FieldDrift, FieldInventory, FieldTypes, FieldUsage, FieldValues } from './types.js';

/** The fields that contacts have: standard ones by name, custom ones as `data.<key>`. */
export class ContactFields implements MethodsFor<typeof routes.fields> {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Lists every field with its type and the share of contacts that have it. */
  list(options?: RequestOptions): Call<FieldInventory> {
    return this.#transport.send(routes.fields.list, {}, options);
  }

  /** Gets the distinct values seen for a field, e.g. `data.plan`. */
  values(field: string, options?: RequestOptions): Call<FieldValues> {
    return this.#transport.send(routes.fields.values, { params: { field } }, options);
  }

  /** Lists the segments, campaigns and workflows that use a field. */
  usage(field: string, options?: RequestOptions): Call<FieldUsage> {
    return this.#transport.send(routes.fields.usage, { params: { field } }, options);
  }

  /**
   * Removes a custom field from every contact. Conditions that use it match no contact from then on;
   * `usage()` says which these are.
   */
  delete(field: string, options?: RequestOptions): Call<Acknowledgement> {
    return this.#transport.send(routes.fields.delete, { params: { field } }, options);
  }

  /**
   * Compares the custom fields that your program expects with those of the project, e.g.
   * `{ plan: 'string', seats: 'number', trialEnds: 'date' }`.
   */
  async check(expected: FieldTypes, options?: RequestOptions): Promise<FieldDrift> {
    const { fields } = await this.list(options);
    return checkFields(expected, fields);
  }
}
