/** Faults that the model puts into a world, to see that it would find them: each with a world that shows it. */
export const BUGS = {
  'no mark in IndexedDB': 321,
  'no mark in localStorage': 15,
  'a 500 holds all tabs': 1,
  'localStorage forgets first': 1040,
  'erases its own events only': 89,
  'the contact of the moment': 56,
  'the older copy wins': 1,
  'orphans go to every tab': 1832,
  'no end of tries': 1,
  'a reset overwrites a denial': 39,
  'reads no decision of others': 4,
  'tells no other tab': 107,
  'asks no database for a denial': 720,
  'hands over before it knows of a denial': 6427,
  'a clear undoes an erasure': 4,
  'a reset forgets the wait of a 429': 364,
  'exit without ownership check': 7570,
  'hands over within the site': 30,
  'a failure at exit is tried again': 133,
  'a 500 is tried for ever': 1,
  'takes from tabs that live': 2472,
} as const;

export type Bug = keyof typeof BUGS;
