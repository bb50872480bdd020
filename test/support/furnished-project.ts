import type { FakeMessaging } from 'postreel/testing';

/** Puts into a fake what the documents and examples name, and more than a page of contacts. */
export function furnish(fake: FakeMessaging): void {
  // The public key that the README tracks with.
  fake.project.publicKey = 'pk_test_public';
  fake.seed({ samples: true, contacts: 120 });
}
