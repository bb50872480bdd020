import { describe, expect, it } from 'vitest';
import { inTerminal, piped, unread } from '../support/cli/command.js';

const commands = [
  ['send'],
  ['track'],
  ['verify'],
  ['contacts'],
  ['contacts', 'list'],
  ['contacts', 'import'],
  ['contacts', 'export'],
  ['workflows'],
  ['workflows', 'draw'],
  ['workflows', 'deploy'],
  ['video'],
  ['audio'],
  ['jobs'],
  ['jobs', 'pending'],
  ['jobs', 'resume'],
  ['jobs', 'wait'],
  ['jobs', 'dismiss'],
  ['status'],
  ['doctor'],
  ['fake'],
  ['mcp'],
  ['pull'],
  ['completion'],
];

describe('postreel --help', () => {
  it('lists every command and every exit code, and exits with 0', async () => {
    const { code, stdout, stderr } = await piped(['--help']);
    expect([code, stderr]).toEqual([0, '']);
    for (const [name] of commands) {
      expect(stdout).toMatch(new RegExp(`^  ${name} `, 'm'));
    }
    expect(stdout).toContain('5    it may have happened: check before you run the command again');
  });

  it.each(commands.map((command) => [command.join(' '), command] as const))(
    'of %s exits with 0 and shows how to call it',
    async (name, command) => {
      const { code, stdout } = await piped([...command, '--help']);
      expect(code).toBe(0);
      expect(stdout).toContain(`Usage: postreel ${name}`);
      const isGroup = commands.some(
        (other) => other.length > command.length && other[0] === command[0],
      );
      expect(stdout).toContain(isGroup ? 'Commands:' : `  $ postreel ${name}`);
    },
  );

  it('has colors in a terminal and fits its width', async () => {
    const wide = inTerminal(['--help'], { columns: 120 });
    const narrow = inTerminal(['send', '--help'], { columns: 60, env: { NO_COLOR: '1' } });
    const refused = inTerminal(['--help', '--no-color']);
    expect(await Promise.all([wide.ended, narrow.ended, refused.ended])).toEqual([0, 0, 0]);
    expect(wide.written).toContain('\u001B[1m');
    expect(narrow.written + refused.written).not.toContain('\u001B[1m');
    const [options = ''] = narrow.text.split('Examples:');
    expect(Math.max(...options.split('\n').map(({ length }) => length))).toBeLessThanOrEqual(60);
  });
});

it('a reader that ends early causes no error', async () => {
  expect(await unread(['--help'])).toMatchObject({ code: 0, stderr: '' });
});

describe('a wrong command line', () => {
  it.each([
    [[], 'Usage: postreel'],
    [['sned'], '(Did you mean send?)'],
    [['fake', '--port', 'many'], 'It must be a whole number, 0 to 65535.'],
    [['fake', '--speed', '0'], 'It must be a number above 0.'],
    [['fake', '--colour'], "unknown option '--colour'"],
    [['send'], "required option '--to <email>' not specified"],
    [['track', 'ann@example.com'], "missing required argument 'event'"],
    [['audio', '--voice', 'voice_1'], 'Give a text or --file, and not both.'],
    [['video'], 'Use --voice with one of --idea, --script and --url, or --jobs.'],
    [['contacts', 'list', '--limit', '0'], 'It must be a whole number, 1 or more.'],
  ])('%j exits with 2 and names the problem', async (args, words) => {
    const { code, stdout, stderr } = await piped([...args]);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toContain(words);
  });
});
