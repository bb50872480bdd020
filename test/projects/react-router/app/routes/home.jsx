import { createTracker } from 'postreel/tracker';
import { useEffect, useState } from 'react';

/** Hands the public key over, so that a build does not contain it. */
export function loader() {
  return { publicKey: process.env.PUBLIC_KEY, baseUrl: process.env.BROWSER_BASE_URL };
}

export default function Home({ loaderData: { publicKey, baseUrl } }) {
  const [state, setState] = useState('waiting');
  useEffect(() => {
    const tracker = createTracker({ publicKey, baseUrl, email: 'ann@example.com' });
    tracker.track('seen');
    tracker.flush().then((isDone) => setState(isDone ? 'tracked' : 'lost'));
    return () => tracker.dispose();
  }, [publicKey, baseUrl]);
  return <p>{state}</p>;
}
