// The program that one would write without a library: retries, `Retry-After`, ten at a time, and a
// progress file.
import { appendFileSync, existsSync, readFileSync } from 'node:fs';

const { MESSAGING_BASE_URL, MESSAGING_API_KEY, COUNT, FOLDER } = process.env;
const path = `${FOLDER}/sent.txt`;
const sent = new Set(existsSync(path) ? readFileSync(path, 'utf8').split('\n') : []);
const left = Array.from({ length: Number(COUNT) }, (_, at) => `reader-${at}@example.com`).filter(
  (to) => !sent.has(to),
);

await Promise.all(Array.from({ length: 10 }, worker));

async function worker() {
  for (let to = left.shift(); to !== undefined; to = left.shift()) {
    try {
      await send({ from: 'shop@example.com', to, subject: 'News', body: '<p>News</p>' });
      appendFileSync(path, `${to}\n`);
    } catch (error) {
      console.log(`failed ${to} ${error}`);
    }
  }
}

async function send(email, attempt = 0) {
  const again = async (delayMs) => {
    if (attempt === 5) {
      throw new Error('gave up');
    }
    await new Promise((resolve) => setTimeout(resolve, delayMs));
    return send(email, attempt + 1);
  };
  let response;
  try {
    response = await fetch(`${MESSAGING_BASE_URL}/v1/send`, {
      method: 'POST',
      headers: { authorization: `Bearer ${MESSAGING_API_KEY}`, 'content-type': 'application/json' },
      body: JSON.stringify(email),
      signal: AbortSignal.timeout(5_000),
    });
  } catch {
    return again(200 * 2 ** attempt);
  }
  if (response.status === 429 || response.status >= 500) {
    return again(1000 * Number(response.headers.get('retry-after') ?? 1));
  }
  if (!response.ok) {
    throw new Error(`status ${response.status}`);
  }
  return response.json();
}
