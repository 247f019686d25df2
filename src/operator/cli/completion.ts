/** `ptf completion`: a completion script for a shell, which starts no process and evaluates no input (decision 11). */
import { Argument, type Command, type Option } from 'commander';
import { type CommandContext, examples } from './command-context.js';

const shells = ['bash', 'zsh'] as const;
type Shell = (typeof shells)[number];

const scripts: Readonly<Record<Shell, (name: string, nodes: readonly Node[]) => string>> = { bash, zsh };

export function addCompletion(program: Command, session: CommandContext): void {
  program
    .command('completion')
    .description('print a script that completes commands and options in a shell')
    .addArgument(new Argument('<shell>', 'shell to complete for').choices(shells))
    .addHelpText('after', examples('completion bash > /etc/bash_completion.d/ptf', 'completion zsh > ~/.zfunc/_ptf'))
    .action((shell: Shell) => {
      const script = scripts[shell](program.name(), nodesOf(program));
      session.done({ value: { shell, script }, lines: () => script.trimEnd().split('\n') });
    });
}

type Node = ReturnType<typeof nodeOf>;

function nodesOf(command: Command, path = ''): Node[] {
  const node = nodeOf(command, path);
  return [node, ...node.commands.flatMap((one) => nodesOf(one, `${path} ${one.name()}`.trimStart()))];
}

/** One command of the tree with its path: `''`, `peers`, `peers list`. */
function nodeOf(command: Command, path: string) {
  const help = command.createHelp();
  return {
    path,
    commands: help.visibleCommands(command).filter((one) => one.name() !== 'help'),
    options: [...help.visibleOptions(command), ...help.visibleGlobalOptions(command)],
    choices: command.registeredArguments.flatMap(({ argChoices }) => argChoices ?? []),
    wantsFolder: command.registeredArguments.some((one) => one.name() === 'folder'),
  };
}

function flagOf({ long }: Option): string {
  return long ?? '';
}

function flagsOf(nodes: readonly Node[], isOne: (option: Option) => boolean): string[] {
  return [...new Set(nodes.flatMap(({ options }) => options.filter(isOne).map(flagOf)))];
}

const wantsValue = (option: Option): boolean => option.required || option.optional;
const wantsFolder = (option: Option): boolean => option.flags.endsWith('<folder>');
const wantsOther = (option: Option): boolean => wantsValue(option) && !wantsFolder(option);

function paths(nodes: readonly Node[]): string[] {
  return nodes.map(({ path }) => path).filter((path) => path !== '');
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

function bash(name: string, nodes: readonly Node[]): string {
  const cases = nodes.map((node) => {
    const words = [...node.commands.map((one) => one.name()), ...node.choices];
    const flags = node.options.map(flagOf);
    const folders = node.wantsFolder ? ' folders=1' : '';
    return `    ${quoted(node.path)}) words=${quoted(words.join(' '))} flags=${quoted(flags.join(' '))}${folders} ;;`;
  });
  return `# bash completion of ${name}
_${name}() {
  local cur=\${COMP_WORDS[COMP_CWORD]} prev=\${COMP_WORDS[COMP_CWORD-1]} path= next= i words= flags= folders=
  COMPREPLY=()
  # bash takes --data-dir=/x for three words.
  [[ $cur == = ]] && cur=
  [[ $prev == = ]] && prev=\${COMP_WORDS[COMP_CWORD-2]}
  for ((i = 1; i < COMP_CWORD; i++)); do
    case \${COMP_WORDS[i]} in
      ${flagsOf(nodes, wantsValue).join('|')}) ((i++)); continue ;;
    esac
    next="\${path:+$path }\${COMP_WORDS[i]}"
    case $next in
      ${paths(nodes).map(quoted).join('|')}) path=$next ;;
    esac
  done
  case $prev in
    ${flagsOf(nodes, wantsFolder).join('|')}) mapfile -t COMPREPLY < <(compgen -d -- "$cur"); return ;;
    ${flagsOf(nodes, wantsOther).join('|')}) return ;;
  esac
  case $path in
${cases.join('\n')}
  esac
  [[ $cur == -* ]] && words=$flags folders=
  [[ $folders ]] && { mapfile -t COMPREPLY < <(compgen -d -- "$cur"); return; }
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur")
}
complete -F _${name} ${name}
`;
}

function zsh(name: string, nodes: readonly Node[]): string {
  const item = (word: string, text: string) => quoted(`${word.replaceAll(':', '\\:')}:${text}`);
  const cases = nodes.map((node) => {
    const words = [
      ...node.commands.map((one) => item(one.name(), one.description())),
      ...node.choices.map((one) => quoted(one)),
    ];
    const flags = node.options.map((option) => item(flagOf(option), option.description));
    const folders = node.wantsFolder ? ' folders=1' : '';
    return `    ${quoted(node.path)}) found=(${words.join(' ')}) flags=(${flags.join(' ')})${folders} ;;`;
  });
  return `#compdef ${name}
_${name}() {
  local at= next= word folders=
  local -i i
  local -a found flags
  for ((i = 2; i < CURRENT; i++)); do
    word=\${words[i]}
    case $word in
      (${flagsOf(nodes, wantsValue).join('|')}) ((i++)); continue ;;
    esac
    next="\${at:+$at }$word"
    case $next in
      (${paths(nodes).map(quoted).join('|')}) at=$next ;;
    esac
  done
  case \${words[CURRENT-1]} in
    (${flagsOf(nodes, wantsFolder).join('|')}) _files -/; return ;;
    (${flagsOf(nodes, wantsOther).join('|')}) return 1 ;;
  esac
  case $at in
${cases.join('\n')}
  esac
  if [[ \${words[CURRENT]} == -* ]]; then
    _describe option flags
  elif [[ -n $folders ]]; then
    _files -/
  else
    _describe command found
  fi
}
if [[ \${funcstack[1]} == _${name} ]]; then _${name} "$@"; else compdef _${name} ${name}; fi
`;
}
