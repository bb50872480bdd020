import type { Command } from 'commander';
import { createCommand, type AddCommand } from '../command.js';
import { CommandEnd } from '../exit-codes.js';

const shells = ['bash', 'zsh', 'fish'] as const;
type Shell = (typeof shells)[number];

/** `postreel completion` */
export const completion: AddCommand = (program, context) =>
  createCommand<{ readonly shell: string }>({
    name: 'completion',
    about: 'print a script that completes commands and options in your shell',
    args: [['<shell>', `your shell: ${shells.join(', ')}`]],
    examples: [
      'completion bash >> ~/.bashrc',
      'completion zsh >> ~/.zshrc',
      'completion fish > ~/.config/fish/completions/postreel.fish',
    ],
    run: ({ shell: name }, { output }) => {
      const shell = shells.find((each) => each === name);
      if (shell === undefined) {
        throw new CommandEnd('usage', `There is no script for ${name}: use ${shells.join(', ')}.`);
      }
      output.raw(scripts[shell](wordsOf(program)));
      return Promise.resolve();
    },
  })(program, context);

/** The words that may follow each command; the key of the program itself is empty. */
type Words = ReadonlyMap<string, readonly string[]>;

function wordsOf(program: Command): Words {
  const words = new Map<string, string[]>();
  const visit = (command: Command, path: readonly string[]) => {
    const options = command.options.flatMap(({ long }) => (long ? [long] : []));
    const names = command.commands.map((child) => child.name());
    words.set(path.join(' '), [...names, ...options, '--help']);
    command.commands.forEach((child) => visit(child, [...path, child.name()]));
  };
  visit(program, []);
  return words;
}

const scripts: Readonly<Record<Shell, (words: Words) => string>> = {
  bash: (words) => bashScript(words),
  // zsh reads bash's completions.
  zsh: (words) =>
    `autoload -Uz compinit bashcompinit && compinit && bashcompinit\n${bashScript(words)}`,
  fish: (words) =>
    [...words]
      .map(
        ([path, list]) =>
          `complete -c postreel -f -n '${fishCondition(path, words)}' -a '${list.join(' ')}'\n`,
      )
      .join(''),
};

function bashScript(words: Words): string {
  const cases = [...words].map(([path, list]) => `    '${path}') words='${list.join(' ')}' ;;\n`);
  return `_postreel() {
  local path='' words='' word
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$word" in -*) ;; *) path="\${path:+$path }$word" ;; esac
  done
  case "$path" in
${cases.join('')}    *) COMPREPLY=($(compgen -f -- "\${COMP_WORDS[COMP_CWORD]}")); return ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _postreel postreel
`;
}

function fishCondition(path: string, words: Words): string {
  if (path === '') {
    return '__fish_use_subcommand';
  }
  const deeper = [...words.keys()].filter((other) => other.startsWith(`${path} `));
  const seen = path.split(' ').map((name) => `__fish_seen_subcommand_from ${name}`);
  const not = deeper.map(
    (other) => `not __fish_seen_subcommand_from ${other.split(' ').at(-1) ?? ''}`,
  );
  return [...seen, ...not].join('; and ');
}
