import { firefoxProblem } from '../../support/tracker/browser.js';
import { describeSome } from '../../support/tracker/run-cases.js';

describeSome('firefox', firefoxProblem(), [
  'delivers 15 events before a page of the site that has no tracker',
  'delivers 15 events before an address of the site that leads elsewhere',
  'delivers 15 events before another site',
  'shares the bytes of an exit among three trackers of a page',
  'goes on after the back/forward cache',
  'delivers the events of 3 tabs',
  'keeps an event that is refused after a route change',
  'names what an exit within the site has handed over in vain',
  'hears of a grant in another open tab, and of none in a later one',
  'goes on when setItem fails later',
  'denies and resets where the storage is damaged',
  'hands over nothing at its end that deny() has erased in another tab',
]);
