import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import packaged from '@sparticuz/chromium';
import { type BrowserContext, chromium, firefox } from 'playwright-core';

const FIREFOX = '/usr/bin/firefox-esr';
const CHROMIUM = '/usr/bin/chromium';
const ARGS = [
  '--no-sandbox',
  '--headless=new',
  '--disable-gpu',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--no-first-run',
  // A name that is not a secure context, as an intranet host is not.
  '--host-resolver-rules=MAP insecure.test 127.0.0.1',
];

export type Engine = 'chromium' | 'firefox';

/** `TRACKER_CHROMIUM=packaged` asks for the browser from npm, as on a fresh machine. */
export const hasSystemChromium =
  process.env.TRACKER_CHROMIUM !== 'packaged' && existsSync(CHROMIUM);

/** Why Firefox cannot be driven here; `undefined` when it can. */
export function firefoxProblem(): string | undefined {
  if (!existsSync(FIREFOX)) {
    return `${FIREFOX} is not installed`;
  }
  const version = execFileSync(FIREFOX, ['--version'], { encoding: 'utf8' });
  // Older ones lack the `network.addDataCollector` of WebDriver BiDi that playwright-core asks for.
  return Number(/(\d+)/.exec(version)?.[1]) < 143 ? `${version.trim()} is too old` : undefined;
}

/** A browser with a profile of its own that survives a kill. */
export interface Profile {
  context: BrowserContext;
  /** Kills the browser as a power cut would, then opens it again. */
  killAndReopen(): Promise<void>;
  kill(): Promise<void>;
  reopen(): Promise<void>;
  close(): Promise<void>;
}

export async function openProfile(engine: Engine): Promise<Profile> {
  const folder = mkdtempSync(join(tmpdir(), `postreel-${engine}-`));
  const profile: Profile = {
    context: await launch(engine, folder),
    kill: async () => {
      const closed = new Promise((resolve) => profile.context.once('close', resolve));
      for (const id of processesOf(folder)) {
        kill(id);
      }
      await closed;
      await until(() => processesOf(folder).length === 0);
    },
    reopen: async () => {
      profile.context = await launch(engine, folder);
    },
    killAndReopen: async () => {
      await profile.kill();
      await profile.reopen();
    },
    close: async () => {
      await profile.context.close();
      for (const id of processesOf(folder)) {
        kill(id);
      }
      rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
    },
  };
  return profile;
}

async function launch(engine: Engine, folder: string): Promise<BrowserContext> {
  if (engine === 'firefox') {
    return firefox.launchPersistentContext(folder, {
      channel: 'moz-firefox',
      executablePath: FIREFOX,
      headless: true,
    });
  }
  return chromium.launchPersistentContext(folder, {
    executablePath: hasSystemChromium ? CHROMIUM : await packaged.executablePath(),
    args: hasSystemChromium ? ARGS : [...packaged.args.filter(isHarmless), ...ARGS.slice(2)],
    ignoreDefaultArgs: ['--disable-back-forward-cache'],
    headless: true,
  });
}

/** Serverless flags that would change what is measured here. */
const isHarmless = (flag: string): boolean =>
  !/single-process|user-data-dir|disable-back-forward|disable-web-security|incognito/.test(flag);

/** The processes that this profile folder belongs to, and no others. */
function processesOf(folder: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((id) => {
      try {
        return id !== process.pid && readFileSync(`/proc/${id}/cmdline`, 'utf8').includes(folder);
      } catch {
        return false;
      }
    });
}

function kill(id: number): void {
  try {
    process.kill(id, 'SIGKILL');
  } catch {
    // Gone by itself.
  }
}

/** Waits for a condition; generous, since the machine may be busy. */
export async function until(
  condition: () => boolean | Promise<boolean>,
  deadlineMs = 60_000,
): Promise<void> {
  const end = Date.now() + deadlineMs;
  while (!(await condition())) {
    if (Date.now() > end) {
      throw new Error(`Not so within ${deadlineMs} ms: ${condition.toString()}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
