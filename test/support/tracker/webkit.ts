import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { createServer } from 'node:net';
import { type Browser, type Tab, until } from './browser.js';

const DRIVER = '/usr/bin/WebKitWebDriver';
const SCREEN = '/usr/bin/Xvfb';

/** Debian keeps the browser of the driver in a folder that names the machine. */
const miniBrowser = (): string | undefined =>
  readdirSync('/usr/lib')
    .map((name) => `/usr/lib/${name}/webkit2gtk-4.1/MiniBrowser`)
    .find((path) => existsSync(path));

/** Why WebKit cannot be driven here; `undefined` when it can. */
export const webkitProblem = (): string | undefined =>
  existsSync(DRIVER) && existsSync(SCREEN) && miniBrowser()
    ? undefined
    : 'webkit2gtk-driver or xvfb is not installed';

/**
 * Enough on a busy machine. A command that meets a page as it goes into the back/forward cache is
 * never answered, and keeps all others waiting.
 */
const LONGEST_COMMAND = 30_000;

/** Displays that this process has started; each browser has one of its own. */
let displays = 0;

type Method = 'GET' | 'POST' | 'DELETE';

/** Sends one command of WebDriver; resolves to its value. */
type Command = (method: Method, path: string, body?: object) => Promise<unknown>;

/**
 * Opens WebKitGTK by W3C WebDriver: its engine, not Safari. A session is private, so nothing
 * survives a kill, and its network cannot be taken away.
 */
export async function openWebkit(): Promise<Browser> {
  const display = `:${100 + (process.pid % 5000) * 12 + displays++}`;
  const screen = spawn(SCREEN, [display, '-screen', '0', '800x600x24', '-nolisten', 'tcp'], {
    stdio: 'ignore',
  });
  const port = await freePort();
  const driver = spawn(DRIVER, [`--port=${port}`, '--host=127.0.0.1'], {
    stdio: 'ignore',
    env: {
      ...process.env,
      DISPLAY: display,
      WEBKIT_DISABLE_SANDBOX_THIS_IS_DANGEROUS: '1',
      WEBKIT_DISABLE_DMABUF_RENDERER: '1',
      LIBGL_ALWAYS_SOFTWARE: '1',
    },
  });
  const root = `http://127.0.0.1:${port}/session`;
  await until(() =>
    fetch(root.replace('session', 'status')).then(
      ({ ok }) => ok,
      () => false,
    ),
  );
  const { sessionId } = (await send(root, 'POST', {
    capabilities: {
      alwaysMatch: {
        browserName: 'MiniBrowser',
        'webkitgtk:browserOptions': { binary: miniBrowser(), args: ['--automation'] },
      },
    },
  })) as { sessionId: string };
  const command: Command = (method, path, body) =>
    send(`${root}/${sessionId}${path}`, method, body);
  // By the clock of the page, which may run a thousand times as fast.
  await command('POST', '/timeouts', { script: 1000 * LONGEST_COMMAND });
  return {
    engine: 'webkit',
    newTab: tabsOf(command, await command('GET', '/window')),
    killAndReopen: () => Promise.reject(new Error('WebKit keeps nothing over a kill')),
    setOffline: () => Promise.reject(new Error('WebKit has no switch for its network')),
    close: async () => {
      await command('DELETE', '').catch(() => undefined);
      end(driver);
      end(screen);
    },
  };
}

/** WebDriver talks to one window at a time: a command names its window first, and waits its turn. */
function tabsOf(command: Command, first: unknown): () => Promise<Tab> {
  let last: Promise<unknown> = Promise.resolve();
  const inTurn = <Result>(work: () => Promise<Result>): Promise<Result> => {
    const result = last.then(work);
    last = result.catch(() => undefined);
    return result;
  };
  return async () => {
    const { handle } = (await inTurn(async () => {
      // A new window needs one that is open.
      await command('POST', '/window', { handle: first });
      return command('POST', '/window/new', { type: 'tab' });
    })) as { handle: string };
    const within = (method: Method, path: string, body?: object) =>
      inTurn(async () => {
        await command('POST', '/window', { handle });
        return command(method, path, body);
      });
    return {
      goto: (url) => within('POST', '/url', { url }),
      close: async () => {
        await within('DELETE', '/window');
      },
      evaluate: async (work: unknown, argument?: unknown) => {
        const [value, problem] = (await within('POST', '/execute/async', {
          script: `const [argument, done] = arguments;
            Promise.resolve(argument).then(${String(work)})
              .then((value) => done([value ?? null]), (error) => done([null, String(error)]));`,
          args: [argument ?? null],
        })) as [unknown, string?];
        if (problem) {
          throw new Error(problem);
        }
        // What the page returned, which only the caller knows.
        return value as never;
      },
    };
  };
}

async function send(url: string, method: Method, body?: object): Promise<unknown> {
  const request = method === 'POST' ? { body: JSON.stringify(body ?? {}) } : {};
  const response = await fetch(url, {
    method,
    ...request,
    signal: AbortSignal.timeout(LONGEST_COMMAND),
  });
  const { value } = (await response.json()) as { value: unknown };
  if (!response.ok) {
    throw new Error(JSON.stringify(value));
  }
  return value;
}

const freePort = (): Promise<number> =>
  new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address ? address.port : 0));
    });
  });

const end = (child: ChildProcess): void => void child.kill('SIGTERM');
