'use client';

import { createTracker } from 'postreel/tracker';
import { useEffect, useState } from 'react';

export function Tracked({ publicKey, baseUrl }) {
  const [state, setState] = useState('waiting');
  useEffect(() => {
    const tracker = createTracker({ publicKey, baseUrl, email: 'ann@example.com' });
    tracker.track('seen');
    tracker.flush().then((isDone) => setState(isDone ? 'tracked' : 'lost'));
    return () => tracker.dispose();
  }, [publicKey, baseUrl]);
  return <p>{state}</p>;
}
