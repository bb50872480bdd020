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
] as const;

export type Bug = (typeof BUGS)[number];
