import type { UntypedData } from '../shared/data.js';
import type { ContentPart, SendPart, TemplatePart } from './types.js';

/** An email to send, with custom fields of any type: a template, or a sender, a subject and a body. */
export type UntypedSendRequest = UntypedTemplateSend | UntypedContentSend;

/** An email made from a template. Fields beside `template` override the template's own. */
export interface UntypedTemplateSend extends UntypedSendFields, TemplatePart {}

/** An email with its own content. */
export interface UntypedContentSend extends UntypedSendFields, ContentPart {}

/** Fields of every email, with custom fields of any type. */
export interface UntypedSendFields extends SendPart {
  /**
   * Template variables, also stored on the contacts. `null` deletes a field; an empty string is
   * ignored; `transient(value)` is used for this email only.
   */
  data?: UntypedData | undefined;
}
