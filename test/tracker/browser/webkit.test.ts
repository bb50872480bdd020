import { describeSome } from '../../support/tracker/run-cases.js';
import { webkitProblem } from '../../support/tracker/webkit.js';

describeSome('webkit', webkitProblem(), [
  'delivers 15 events that are followed by a navigation',
  'delivers 15 events that are followed by a navigation to another site',
  'goes on after the back/forward cache',
  'hands over nothing at its end that deny() has erased in another tab',
  'lets the host delete the database, and makes it anew',
]);
