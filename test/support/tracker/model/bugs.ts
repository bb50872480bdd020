/** Faults that the model puts into a world, to see that it would find them: each with a world that shows it. */
export const BUGS = {
  'no mark in IndexedDB': 238,
  'no mark in localStorage': 32,
  'a 500 holds all tabs': 1094,
  'localStorage forgets first': 857,
  'erases its own events only': 3636,
  'the contact of the moment': 4,
  'the older copy wins': 4,
  'orphans go to every tab': 5891,
  'no end of tries': 39,
  'a reset overwrites a denial': 1,
  'reads no decision of others': 38,
  'tells no other tab': 987,
  'asks no database for a denial': 1205,
  'hands over before it knows of a denial': 12816,
  'a clear undoes an erasure': 191,
  'a reset forgets the wait of a 429': 0,
  'exit without ownership check': 0,
  'hands over within the site': 0,
  'a failure at exit is tried again': 0,
  'a 500 is tried for ever': 0,
  'takes from tabs that live': 0,
} as const;

export type Bug = keyof typeof BUGS;
