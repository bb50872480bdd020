import type { Project } from '../state.js';

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
