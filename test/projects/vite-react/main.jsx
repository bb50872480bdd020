/* global __PUBLIC_KEY__, __BASE_URL__ */
import { createTracker } from 'postreel/tracker';
import { TrackerProvider, useTracker, useTrackOnMount } from 'postreel/tracker/react';
import { StrictMode, useEffect, useState } from 'react';
import { createRoot } from 'react-dom/client';

const email = 'ann@example.com';
const tracker = createTracker({ publicKey: __PUBLIC_KEY__, baseUrl: __BASE_URL__, email });

function Page() {
  const [state, setState] = useState('waiting');
  const { flush } = useTracker();
  useTrackOnMount('seen');
  useEffect(() => {
    flush().then((isDone) => setState(isDone ? 'tracked' : 'lost'));
  }, [flush]);
  return <p>{state}</p>;
}

createRoot(document.querySelector('#app')).render(
  <StrictMode>
    <TrackerProvider tracker={tracker}>
      <Page />
    </TrackerProvider>
  </StrictMode>,
);
