import { describeSome } from '../../support/tracker/run-cases.js';
import { webkitProblem } from '../../support/tracker/webkit.js';

describeSome('webkit', webkitProblem(), [
  'delivers 15 events before a page of the site that has no tracker',
  'delivers 15 events before another site',
  'goes on after the back/forward cache',
  'keeps an event that is refused after a route change',
  'hears of a grant in another open tab, and of none in a later one',
  'hands over nothing at its end that deny() has erased in another tab',
]);
