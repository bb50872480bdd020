import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { createServer } from 'node:net';
import { type Browser, type Tab, until } from './browser.js';

const DRIVER = '/usr/bin/WebKitWebDriver';
const SCREEN = '/usr/bin/Xvfb';

/** Debian keeps the driver's browser in a folder that is named after the architecture. */
const miniBrowser = (): string | undefined =>
  readdirSync('/usr/lib')
    .map((name) => `/usr/lib/${name}/webkit2gtk-4.1/MiniBrowser`)
    .find((path) => existsSync(path));

/** The reason why WebKit cannot be driven on this machine; `undefined` if it can. */
export const webkitProblem = (): string | undefined =>
  existsSync(DRIVER) && existsSync(SCREEN) && miniBrowser()
    ? undefined
    : 'webkit2gtk-driver or xvfb is not installed';

/**
 * Long enough for a busy machine. A command to a page that is entering the back/forward cache never
 * returns, and blocks all others.
 */
const LONGEST_COMMAND = 30_000;

/** The number of displays that this process has started; each browser has a separate one. */
let displays = 0;

type Method = 'GET' | 'POST' | 'DELETE';

/** Sends one WebDriver command; resolves to its value. */
type Command = (method: Method, path: string, body?: object) => Promise<unknown>;

/**
 * Opens WebKitGTK over W3C WebDriver: it has Safari's engine, but is not Safari. A session is
 * private, so nothing survives a kill, and its network cannot be disconnected.
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
  // Measured by the clock of the page, which may run a thousand times as fast.
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

/**
 * WebDriver addresses one window at a time: each command selects its window first, and waits for
 * its turn.
 */
function tabsOf(command: Command, first: unknown): () => Promise<Tab> {
  let last: Promise<unknown> = Promise.resolve();
  const inTurn = <Result>(work: () => Promise<Result>): Promise<Result> => {
    const result = last.then(work);
    last = result.catch(() => undefined);
    return result;
  };
  return async () => {
    const { handle } = (await inTurn(async () => {
      // A new window needs an open one.
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
        // as: the value that the page returned, whose type only the caller knows
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
