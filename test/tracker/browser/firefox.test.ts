import { firefoxProblem } from '../../support/tracker/browser.js';
import { describeSome } from '../../support/tracker/run-cases.js';

describeSome('firefox', firefoxProblem(), [
  'delivers 15 events before a page of the site that has no tracker',
  'delivers 15 events before an address of the site that leads elsewhere',
  'delivers 15 events before another site',
  'shares the bytes of an exit among three trackers of a page',
  'continues after the back/forward cache',
  'delivers the events of 3 tabs',
  'keeps an event that is refused after a route change',
  'reports the events that an exit within the site handed over but the service rejected',
  'follows a grant in another open tab, but not in a later tab',
  'continues if setItem fails later',
  'denies and resets if the storage is damaged',
  'hands over no event at its end that deny() has erased in another tab',
]);
