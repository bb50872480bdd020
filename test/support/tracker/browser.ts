import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import packaged from '@sparticuz/chromium';
import { type BrowserContext, chromium, firefox } from 'playwright-core';

const FIREFOX = '/usr/bin/firefox-esr';
const CHROMIUM = '/usr/bin/chromium';
/** A host name that is not a secure context, like those of an intranet. */
export const INSECURE = 'insecure.test';
const ARGS = [
  '--no-sandbox',
  '--headless=new',
  '--disable-gpu',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--no-first-run',
  `--host-resolver-rules=MAP ${INSECURE} 127.0.0.1`,
];

export type Engine = 'chromium' | 'firefox' | 'webkit';

/** A tab, with the operations that every engine supports. */
export interface Tab {
  goto(url: string): Promise<unknown>;
  /** Runs a function in the page; its result must be JSON. */
  evaluate<Result>(work: () => Result | Promise<Result>): Promise<Result>;
  evaluate<Argument, Result>(
    work: (argument: Argument) => Result | Promise<Result>,
    argument: Argument,
  ): Promise<Result>;
  close(): Promise<void>;
}

/** A browser that cases share. */
export interface Browser {
  readonly engine: Engine;
  newTab(): Promise<Tab>;
  /** Kills the browser as a power cut would, then opens it again. */
  killAndReopen(): Promise<void>;
  /** Disconnects every tab from the network, or connects it again. */
  setOffline(isOffline: boolean): Promise<void>;
  close(): Promise<void>;
}

/** `TRACKER_CHROMIUM=packaged` selects the browser from npm, as on a fresh machine. */
export const hasSystemChromium =
  process.env.TRACKER_CHROMIUM !== 'packaged' && existsSync(CHROMIUM);

/** The reason why Firefox cannot be driven on this machine; `undefined` if it can. */
export function firefoxProblem(): string | undefined {
  if (!existsSync(FIREFOX)) {
    return `${FIREFOX} is not installed`;
  }
  const version = execFileSync(FIREFOX, ['--version'], { encoding: 'utf8' });
  // Older versions lack the `network.addDataCollector` of WebDriver BiDi that playwright-core
  // needs.
  return Number(/(\d+)/.exec(version)?.[1]) < 143 ? `${version.trim()} is too old` : undefined;
}

/** A browser driven by playwright, with a profile that survives a kill. */
export interface Profile extends Browser {
  context: BrowserContext;
  kill(): Promise<void>;
  reopen(): Promise<void>;
}

export async function openProfile(engine: Exclude<Engine, 'webkit'>): Promise<Profile> {
  const folder = mkdtempSync(join(tmpdir(), `postreel-${engine}-`));
  let ended: Promise<unknown>;
  const open = async () => {
    const context = await launch(engine, folder);
    ended = new Promise((resolve) => context.once('close', resolve));
    return context;
  };
  const profile: Profile = {
    engine,
    context: await open(),
    newTab: () => profile.context.newPage(),
    setOffline: (isOffline) => profile.context.setOffline(isOffline),
    kill: async () => {
      for (const id of processesOf(folder)) {
        kill(id);
      }
      await ended;
      await until(() => processesOf(folder).length === 0);
    },
    reopen: async () => {
      profile.context = await open();
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

async function launch(engine: Exclude<Engine, 'webkit'>, folder: string): Promise<BrowserContext> {
  if (engine === 'firefox') {
    return firefox.launchPersistentContext(folder, {
      channel: 'moz-firefox',
      executablePath: FIREFOX,
      headless: true,
      // A host name that is not a secure context.
      firefoxUserPrefs: { 'network.dns.localDomains': INSECURE },
    });
  }
  return chromium.launchPersistentContext(folder, {
    executablePath: hasSystemChromium ? CHROMIUM : await packaged.executablePath(),
    args: hasSystemChromium ? ARGS : [...packaged.args.filter(isHarmless), ...ARGS.slice(2)],
    ignoreDefaultArgs: ['--disable-back-forward-cache'],
    headless: true,
  });
}

/** Removes flags for servers that would change the measurements. */
const isHarmless = (flag: string): boolean =>
  !/single-process|user-data-dir|disable-back-forward|disable-web-security|incognito/.test(flag);

/** The processes of this profile folder, and no others. */
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
    // The process has already ended.
  }
}

/** Waits for a condition; with a long deadline, because the machine may be busy. */
export async function until(
  condition: () => boolean | Promise<boolean>,
  deadlineMs = 120_000,
): Promise<void> {
  const end = Date.now() + deadlineMs;
  while (!(await condition())) {
    if (Date.now() > end) {
      throw new Error(`Not so within ${deadlineMs} ms: ${condition.toString()}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
