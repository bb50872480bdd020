import type { Handlers } from '../core/types.js';
import { required, text, wrong, type Rule } from '../core/checks.js';
import { listAnswer } from './lists.js';
import { findOwn, forbidden, isoNow, notFound, readBody } from './resource.js';
import type { Domain, Project, Scope } from './state.js';

export const handlers: Handlers<Scope> = {
  'GET /domains/project/{projectId}': (request, scope) => {
    checkProject(scope, request.params.projectId);
    // messaging, Domains: verified and pending ones.
    const items = [...scope.project.domains.values()].map(view);
    return listAnswer(scope, request, { items, name: 'domains', style: 'array' });
  },

  'POST /domains': (request, scope) => {
    const { projectId = scope.project.id, ...sent } = readBody(request, {
      projectId: text,
      domain: required(domainName),
    });
    checkProject(scope, projectId);
    const name = sent.domain.toLowerCase();
    const same = [...scope.project.domains.values()].find(({ domain }) => domain === name);
    // The document does not show the response for an existing domain: return it again.
    return { status: 201, body: view(same ?? addDomain(scope, name)) };
  },

  'GET /domains/{id}/verify': (request, scope) => {
    const domain = findDomain(scope, request.params.id);
    checkDomain(scope, domain);
    return { body: view(domain) };
  },

  'DELETE /domains/{id}': (request, scope) => {
    scope.project.domains.delete(findDomain(scope, request.params.id).id);
    return { status: 204 };
  },
};

function addDomain(scope: Scope, name: string): Domain {
  const domain: Domain = {
    id: scope.world.id('dom'),
    projectId: scope.project.id,
    domain: name,
    status: 'pending',
    createdAt: isoNow(scope),
  };
  scope.project.domains.set(domain.id, domain);
  watchDomain(scope, domain);
  return domain;
}

function findDomain(scope: Scope, id = ''): Domain {
  return findOwn(scope, (project) => project.domains, id);
}

function checkProject({ world, project }: Scope, id = ''): void {
  if (id === project.id) {
    return;
  }
  throw world.projects.has(id) ? forbidden('The key belongs to another project.') : notFound(id);
}

const domainName: Rule<string> = {
  check: (value) =>
    typeof value === 'string' && /^[a-z0-9-]+(\.[a-z0-9-]+)+$/i.test(value)
      ? []
      : wrong('must be a domain name.', 'invalid_format'),
};

/**
 * The document shows neither the fields of records nor the response of a check: return the domain with the
 * records to add.
 */
function view(domain: Domain) {
  return {
    ...domain,
    id: domain.id,
    verified: domain.status === 'verified',
    records: dnsRecords(domain.domain),
  };
}

function dnsRecords(domain: string): { type: string; name: string; value: string }[] {
  return [
    { type: 'TXT', name: domain, value: 'v=spf1 include:spf.messaging.fake ~all' },
    { type: 'CNAME', name: `key1._domainkey.${domain}`, value: 'key1.dkim.messaging.fake' },
    { type: 'MX', name: `bounces.${domain}`, value: '10 feedback.messaging.fake' },
  ];
}

/** messaging, Send, Template and Campaign: the sender's domain must be verified. */
export function isVerifiedSender(project: Project, from: string): boolean {
  const name = from.slice(from.lastIndexOf('@') + 1).toLowerCase();
  for (const { domain, status } of project.domains.values()) {
    if (status === 'verified' && domain === name) {
      return true;
    }
  }
  return false;
}

/** The sender of a workflow step whose template names none (not shown). */
export function defaultSender(project: Project): string {
  const verified = [...project.domains.values()].find(({ status }) => status === 'verified');
  return `no-reply@${verified?.domain ?? 'messaging.fake'}`;
}

/** messaging, Limits: domain background verification, every 5 minutes. */
const checkEveryMs = 5 * 60_000;

/** Checks a domain: verified when `project.dns` has its name; none goes back to pending. */
function checkDomain({ world, project }: Scope, domain: Domain): void {
  if (domain.status === 'verified' || !project.dns.has(domain.domain)) {
    return;
  }
  domain.status = 'verified';
  domain.verifiedAt = world.clock.date().toISOString();
}

/** The background check, for as long as the domain is pending. */
function watchDomain(scope: Scope, domain: Domain): void {
  scope.world.clock.after(checkEveryMs, () => {
    if (!scope.project.domains.has(domain.id)) {
      return;
    }
    checkDomain(scope, domain);
    if (domain.status === 'pending') {
      watchDomain(scope, domain);
    }
  });
}
