import { messaging } from './messaging.js';

export const dynamic = 'force-dynamic';

export default async function Page() {
  const { items } = await messaging().contacts.list({ search: 'nobody' });
  return <p>{`contacts: ${items.length}`}</p>;
}
