import { Tracked } from './tracked.js';

export const dynamic = 'force-dynamic';

export default function Page() {
  const { PUBLIC_KEY, BROWSER_BASE_URL } = process.env;
  return <Tracked publicKey={PUBLIC_KEY} baseUrl={BROWSER_BASE_URL} />;
}
