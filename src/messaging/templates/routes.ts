import { numberedPage, of, route } from '../../core/route.js';
import type { Acknowledgement } from '../../core/values.js';
import type {
  DuplicatedTemplate,
  Template,
  TemplateCreate,
  TemplateQuery,
  TemplateUpdate,
  TemplateUsage,
} from './types.js';

export const routes = {
  list: route('GET /templates', {
    query: of<TemplateQuery>(),
    returns: numberedPage<Template>('limit', 'templates'),
  }),
  create: route('POST /templates', {
    body: of<TemplateCreate | Template>(),
    returns: of<Template>(),
  }),
  get: route('GET /templates/{id}', { returns: of<Template>() }),
  update: route('PATCH /templates/{id}', {
    body: of<TemplateUpdate | Template>(),
    returns: of<Template>(),
  }),
  delete: route('DELETE /templates/{id}', { returns: of<Acknowledgement>() }),
  duplicate: route('POST /templates/{id}/duplicate', { returns: of<DuplicatedTemplate>() }),
  usage: route('GET /templates/{id}/usage', { returns: of<TemplateUsage>() }),
};
