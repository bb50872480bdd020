/** Faults that the model puts into a world, to see that it would find them. */
export const BUGS = [
  'no mark in IndexedDB',
  'no mark in localStorage',
  'exit without ownership check',
  'a 500 holds all tabs',
  'takes from tabs that live',
  'localStorage forgets first',
  'erases its own events only',
  'the contact of the moment',
  'a failure at exit is tried again',
  'the older copy wins',
  'orphans go to every tab',
  'no end of tries',
  'a reset overwrites a denial',
  'reads no decision of others',
  'tells no other tab',
  'asks no database for a denial',
  'hands over before it knows of a denial',
  'a 500 is tried for ever',
  'a clear undoes an erasure',
] as const;

export type Bug = (typeof BUGS)[number];
