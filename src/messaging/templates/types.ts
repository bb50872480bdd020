import type { OpenInput, OpenRecord } from '../../core/values.js';

/** What a template is for. */
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
 * A template to create. You may add fields that the service does not document. A template that a
 * method returned will do: its `id`, `createdAt` and `updatedAt` are left out, and so are fields that
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
 * Changes to a template. A template that a method returned will do: its `id`, `createdAt` and
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
