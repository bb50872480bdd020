import { describeChromium } from './browser/chromium.js';
import { describeFirefox } from './browser/firefox.js';

// One file, so that never more than one browser runs at a time.
describeChromium();
describeFirefox();
