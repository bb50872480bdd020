import { firefoxProblem } from '../../support/tracker/browser.js';
import { describeSome } from '../../support/tracker/run-cases.js';

describeSome('firefox', firefoxProblem(), [
  'delivers 15 events that are followed by a navigation',
  'delivers 15 events that are followed by a navigation to another site',
  'keeps its place in the back/forward cache',
  'delivers the events of 5 tabs',
  'delivers what was left, and nothing again, after the browser was killed',
  'lets the host delete the database, and makes it anew',
]);
