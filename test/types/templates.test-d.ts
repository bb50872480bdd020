import type { OpenRecord, Template, TemplateCreate, TemplateType } from 'postreel';
import { expectTypeOf } from 'vitest';
import type { Templates } from 'postreel/messaging';

expectTypeOf<TemplateType>().toEqualTypeOf<'TRANSACTIONAL' | 'MARKETING'>();
// Answers stay open: a new type or field must not break a caller.
expectTypeOf<string>().toExtend<Template['type']>();
expectTypeOf<Template>().toExtend<OpenRecord>();

const content = { name: 'Welcome', subject: 'Hi', body: '<p>Hi</p>' };

export const complete: TemplateCreate = { ...content, type: 'MARKETING', replyTo: 'a@example.com' };
// @ts-expect-error -- a template has a type
export const withoutType: TemplateCreate = content;
// @ts-expect-error -- there is no such type
export const withOddType: TemplateCreate = { ...content, type: 'NEWS' };
// @ts-expect-error -- a subject is required
export const withoutSubject: TemplateCreate = { name: 'Welcome', body: '', type: 'MARKETING' };

export function calls(templates: Templates) {
  void templates.list();
  void templates.list({ limit: 50, type: 'TRANSACTIONAL', search: 'welcome' });
  void templates.update('tpl_1', {});
  // @ts-expect-error -- there is no such type
  void templates.list({ type: 'NEWS' });
  // @ts-expect-error -- a misspelt name would be ignored
  void templates.list({ pageSize: 50 });
  // @ts-expect-error -- an update says what changes
  void templates.update('tpl_1');
}
