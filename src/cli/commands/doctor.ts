import { existsSync } from 'node:fs';
import { createCommand } from '../command.js';
import type { Context } from '../context.js';
import { readEnvFile, type Environment } from '../environment.js';
import { CommandEnd } from '../exit-codes.js';
import type { Output } from '../output.js';
import { version } from '../version.js';
import { checkService, type ServiceCheck } from './check-service.js';

/** The result of one check. */
interface Finding {
  readonly name: string;
  readonly verdict: 'ok' | 'problem' | 'skipped';
  readonly text: string;
  /** The remedy for the problem. */
  readonly advice?: string;
}

const maxSkewMs = 60_000;

/** `postreel doctor` */
export const doctor = createCommand<object>({
  name: 'doctor',
  about: 'find problems with keys, addresses, clocks and versions',
  examples: ['doctor'],
  run: async (_, context) => {
    const { environment, output } = context;
    const findings = [checkVersions(), checkEnvFile(context), ...checkKeys(environment)];
    for (const service of ['messaging', 'media'] as const) {
      findings.push(...checkResponse(await checkService(service, context)));
    }
    findings.push({
      name: 'limits',
      verdict: 'ok',
      text: '1000 requests a minute; 10 generate calls in 10 minutes; 20 pending jobs',
    });
    const problems = findings.filter(({ verdict }) => verdict === 'problem');
    output.result({ findings, problems: problems.length }, () =>
      findings.map((finding) => describe(finding, output)).join('\n'),
    );
    if (problems.length > 0) {
      throw new CommandEnd('different');
    }
  },
});

function describe({ name, verdict, text, advice }: Finding, output: Output): string {
  const colors = { ok: 'green', problem: 'red', skipped: 'dim' } as const;
  const mark = output.paint(colors[verdict], verdict.padEnd(7));
  const more = advice === undefined ? '' : `\n${' '.repeat(9)}${output.paint('dim', advice)}`;
  return `${mark}  ${output.paint('bold', name)}: ${text}${more}`;
}

// A Node that is too old runs no command, so its version needs no check.
function checkVersions(): Finding {
  const text = `postreel ${version}, Node ${process.versions.node}, ${process.platform}`;
  return { name: 'versions', verdict: 'ok', text };
}

function checkEnvFile({ environment, environmentProblem: problem }: Context): Finding {
  const name = '.env';
  if (problem) {
    return { name, verdict: 'problem', text: problem.message };
  }
  if (!existsSync('.env')) {
    return { name, verdict: 'skipped', text: 'none in this folder' };
  }
  const file = readEnvFile('.env');
  const own = Object.keys(file).filter((each) => /^(MESSAGING|MEDIA)_/.test(each));
  if (own.length === 0) {
    return { name, verdict: 'skipped', text: 'sets nothing of ours' };
  }
  const text = `sets ${own.sort().join(', ')}`;
  const overridden = own.filter((each) => file[each] !== environment[each]);
  const which = overridden.join(', ');
  const advice = `The environment has another value of ${which}, which counts. Unset it there to use .env.`;
  return { name, verdict: 'ok', text, ...(overridden.length > 0 && { advice }) };
}

/** Checks the keys, and never shows them. */
function checkKeys(environment: Environment): Finding[] {
  const key = environment['MESSAGING_API_KEY'];
  if (key === undefined) {
    return [];
  }
  const name = 'messaging key';
  if (key.startsWith('sk_')) {
    return [{ name, verdict: 'ok', text: 'a secret key' }];
  }
  const advice = 'Set MESSAGING_API_KEY to a key that starts with sk_.';
  const text = key.startsWith('pk_') ? 'a public key, which can only track' : 'of an unknown kind';
  return [{ name, verdict: 'problem', text, advice }];
}

function checkResponse(check: ServiceCheck): Finding[] {
  const name = check.service;
  const { problem = '', clockAheadMs } = check;
  if (check.settings !== 'both') {
    const prefix = name.toUpperCase();
    const advice = `Put ${prefix}_BASE_URL=https://… and ${prefix}_API_KEY=… into .env, or try the fake: npx postreel fake --env .env &`;
    const verdict = check.settings === 'half' ? 'problem' : 'skipped';
    return [{ name, verdict, text: problem, advice }];
  }
  // The client refuses a key of the wrong form before it sends anything.
  const isKeyWrong = check.isReachable ? !check.isKeyAccepted : check.code === 'INVALID_API_KEY';
  if (isKeyWrong) {
    const advice = `Check ${name.toUpperCase()}_API_KEY.`;
    return [{ name, verdict: 'problem', text: problem, advice }];
  }
  if (!check.isReachable) {
    const advice = `Check ${name.toUpperCase()}_BASE_URL and the network.`;
    return [{ name, verdict: 'problem', text: problem, advice }];
  }
  const text = `answers in ${check.latencyMs ?? 0} ms and accepts the key`;
  const reached: Finding = { name, verdict: 'ok', text };
  return clockAheadMs === undefined ? [reached] : [reached, checkClock(check, clockAheadMs)];
}

function checkClock({ service, isFake }: ServiceCheck, aheadMs: number): Finding {
  const name = 'clock';
  const seconds = Math.abs(aheadMs) / 1000;
  if (Math.abs(aheadMs) < maxSkewMs) {
    return { name, verdict: 'ok', text: `agrees with ${service} (${seconds} s apart)` };
  }
  if (isFake === true) {
    const side = aheadMs > 0 ? 'ahead of' : 'behind';
    const text = `the fake's clock is ${seconds} s ${side} this machine: --speed or its page moved it`;
    return { name, verdict: 'ok', text };
  }
  const text = `${seconds} s ${aheadMs > 0 ? 'behind' : 'ahead of'} ${service}`;
  const advice = 'Set the clock of this machine: signed URLs and scheduled times depend on it.';
  return { name, verdict: 'problem', text, advice };
}
