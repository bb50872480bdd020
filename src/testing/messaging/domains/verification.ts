import type { Domain, Scope } from '../state.js';

/** messaging, Limits: domain background verification, every 5 minutes. */
const checkEveryMs = 5 * 60_000;

/** Checks a domain: verified when `project.dns` has its name; none goes back to pending. */
export function checkDomain({ world, project }: Scope, domain: Domain): void {
  if (domain.status === 'verified' || !project.dns.has(domain.domain)) {
    return;
  }
  domain.status = 'verified';
  domain.verifiedAt = world.clock.date();
}

/** The background check, for as long as the domain is pending. */
export function watchDomain(scope: Scope, domain: Domain): void {
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
