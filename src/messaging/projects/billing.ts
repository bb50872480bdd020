import type { Call, ListOptions, RequestOptions, Paginated } from '../../core/types.js';
import type { MethodsFor } from '../../core/route.js';
import type { FieldObject } from '../../core/values.js';
import type { Transport } from '../../core/send.js';
import { routes } from './routes.js';
import type {
  BillingConsumption,
  BillingLimits,
  BillingPortal,
  BillingPortalCreate,
  CheckoutCreate,
  CheckoutSession,
  Invoice,
  InvoiceQuery,
} from './types.js';

/** The billing of a project: limits, usage and invoices. */
export class ProjectBilling implements MethodsFor<typeof routes.billing> {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Creates a checkout session at the payment provider. */
  createCheckout(
    id: string,
    body?: CheckoutCreate,
    options?: RequestOptions,
  ): Call<CheckoutSession> {
    return this.#transport.send(routes.billing.createCheckout, { params: { id }, body }, options);
  }

  /** Opens the billing portal. */
  createPortal(
    id: string,
    body?: BillingPortalCreate,
    options?: RequestOptions,
  ): Call<BillingPortal> {
    return this.#transport.send(routes.billing.createPortal, { params: { id }, body }, options);
  }

  /** Gets the cap of each category. */
  getLimits(id: string, options?: RequestOptions): Call<BillingLimits> {
    return this.#transport.send(routes.billing.getLimits, { params: { id } }, options);
  }

  /** Sets the cap of each category. */
  setLimits(
    id: string,
    body: BillingLimits | FieldObject,
    options?: RequestOptions,
  ): Call<BillingLimits> {
    return this.#transport.send(routes.billing.setLimits, { params: { id }, body }, options);
  }

  /** Gets the usage in the current billing period. */
  consumption(id: string, options?: RequestOptions): Call<BillingConsumption> {
    return this.#transport.send(routes.billing.consumption, { params: { id } }, options);
  }

  /** Lists invoices. `await` it for one page, `for await` it for every invoice. */
  invoices(id: string, query?: InvoiceQuery, options?: ListOptions): Paginated<Invoice> {
    return this.#transport.pages(routes.billing.invoices, { params: { id }, query }, options);
  }
}
