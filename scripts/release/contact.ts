const contact = /^SECURITY_CONTACT = `(?:[^\s@`]+@[^\s@`]+\.[^\s@`]+|https:\/\/[^\s`]+)`$/m;

/** What keeps SECURITY.md from being published: it must name an email address or an https page. */
export function contactProblems(page: string): string[] {
  return contact.test(page)
    ? []
    : [
        'SECURITY.md names no contact: set SECURITY_CONTACT to an email address or an https address.',
      ];
}
