import type { OpenRecord } from '../../contract/records.js';

/** What a template is for. */
export type TemplateType = 'TRANSACTIONAL' | 'MARKETING';

/** An email to be filled in and sent. The service's document does not show all its fields. */
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
  createdAt: string;
}

/** A template to make. Fields that the service's document does not show may be added. */
export interface TemplateCreate extends OpenRecord {
  name: string;
  /** 1 to 998 characters without a line break. */
  subject: string;
  /** HTML. `{{plan}}` is filled in; `{{name ?? "default"}}` says what stands for a missing field. */
  body: string;
  type: TemplateType;
  /** The sender's address; its domain must be verified. */
  from?: string | undefined;
}

/** What to change about a template. */
export interface TemplateUpdate extends OpenRecord {
  name?: string | undefined;
  /** 1 to 998 characters without a line break. */
  subject?: string | undefined;
  /** HTML. */
  body?: string | undefined;
  type?: TemplateType | undefined;
  /** The sender's address; its domain must be verified. */
  from?: string | undefined;
}

/** Which templates to list. */
export interface TemplateQuery {
  /**
   * How many templates a page holds, 1 to 100.
   * @default 20 when awaited, 100 when iterated
   */
  limit?: number | undefined;
  /** Where to go on: the `cursor` of a page or an iterator. */
  cursor?: string | undefined;
  type?: TemplateType | undefined;
  search?: string | undefined;
}

/** The copy of a template. The service's document shows no more than its id. */
export interface DuplicatedTemplate extends OpenRecord {
  id: string;
}

/** Where a template is used. The service's document does not show its fields. */
export interface TemplateUsage extends OpenRecord {}
