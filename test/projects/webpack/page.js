/* global __PUBLIC_KEY__, __BASE_URL__ */
import { createTracker } from 'postreel/tracker';

const email = 'ann@example.com';
const tracker = createTracker({ publicKey: __PUBLIC_KEY__, baseUrl: __BASE_URL__, email });
tracker.track('seen');
tracker.flush().then((isDone) => {
  document.body.textContent = isDone ? 'tracked' : 'lost';
});
