import { describeSome } from '../../support/tracker/run-cases.js';
import { webkitProblem } from '../../support/tracker/webkit.js';

describeSome('webkit', webkitProblem(), [
  'delivers 15 events before a page of the site that has no tracker',
  'delivers 15 events before another site',
  'continues after the back/forward cache',
  'keeps an event that is refused after a route change',
  'follows a grant in another open tab, but not in a later tab',
  'hands over no event at its end that deny() has erased in another tab',
]);
