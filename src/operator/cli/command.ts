/**
 * Runs one `ptf` command: turns a command line into output and an exit code, without touching the process. Exit codes:
 * 0 done, 1 refused, 2 wrong usage, 3 no node.
 */
import { resolve } from 'node:path';
import { Command, CommanderError } from 'commander';
import { hasCode, messageOf } from '../../errors.js';
import { DiskFullError, UnreadError } from '../../group/ports/storage.js';
import { checkRequest } from '../../operations/table.js';
import { printable } from '../../operations/text-table.js';
import { optionsOf, usageText, writesTo } from '../../terminal.js';
import { violationTexts } from '../../validation/validator.js';
import { addBackups } from './backups.js';
import { addCluster } from './cluster-command.js';
import { type CommandContext, type CommandDeps, examples, type Rendered } from './command-context.js';
import { addCompletion } from './completion.js';
import { addDashboard } from './dashboard-command.js';
import { addDoctor } from './doctor.js';
import { addErase } from './erase.js';
import { addAuditReaders } from './export.js';
import { callNode, OperatorError } from './node-client.js';
import { addCommand, addOperations, peersList } from './operation-commands.js';
import { addVerify } from './verify.js';

export type ExitCode = 0 | 1 | 2 | 3;

/** Runs one command line (without interpreter and script) and prints the result. Never rejects. */
export async function runCommand(args: readonly string[], deps: CommandDeps): Promise<ExitCode> {
  const options = optionsOf(args);
  const json = options.includes('--json');
  const width = options.includes('--wide') ? Number.POSITIVE_INFINITY : deps.terminal.width;
  const results: Rendered[] = [];
  const parse = async (hasDefaults: boolean): Promise<unknown> =>
    programOf(deps, json, (rendered) => results.push(rendered), hasDefaults).parseAsync(args, { from: 'user' });
  try {
    // A group with a default command cannot say which command a mistyped one stands for.
    await parse(true).catch((error: unknown) => {
      if (!hasCode(error, 'commander.excessArguments')) throw error;
      return parse(false);
    });
  } catch (error) {
    // Help or version was requested, and is printed already.
    if (error instanceof CommanderError && error.exitCode === 0) return 0;
    const failure = failureOf(error, args);
    print(deps, json, width, undefined, failure);
    return failure.exitCode;
  }
  const [rendered] = results;
  const fault =
    rendered?.fault === undefined ? undefined : new OperatorError(rendered.fault.code, rendered.fault.error);
  print(deps, json, width, rendered, fault);
  return fault === undefined ? 0 : 1;
}

/** Prints a result. With `json`, standard output gets one document, which contains both the value and the fault. */
function print(
  { terminal }: CommandDeps,
  json: boolean,
  width: number,
  rendered: Rendered | undefined,
  failure: OperatorError | undefined,
): void {
  if (rendered === undefined && failure === undefined) return;
  if (json) {
    const error = failure === undefined ? {} : { error: failure.message, code: failure.code };
    const details = failure?.details === undefined ? {} : { details: failure.details };
    terminal.out(`${JSON.stringify({ ...rendered?.value, ...error, ...details })}\n`);
    return;
  }
  if (rendered !== undefined) terminal.out(`${rendered.lines(width).join('\n')}\n`);
  if (failure !== undefined) terminal.err(`ptf: ${printable(failure.message)} (${failure.code})\n`);
}

function failureOf(error: unknown, args: readonly string[]): OperatorError {
  if (error instanceof OperatorError) return error;
  if (error instanceof DiskFullError) return new OperatorError('disk_full', error.message);
  if (error instanceof UnreadError) return new OperatorError('store_unread', error.message);
  if (error instanceof CommanderError) {
    // Commander's code for "printed the help, because a command is missing".
    const asked = args[args.indexOf('help') + 1];
    const missing = args.includes('help') ? `unknown command '${asked}'` : 'a command is missing';
    return new OperatorError('wrong_usage', usageText(error, missing), 2);
  }
  if (hasCode(error, 'EACCES')) {
    return new OperatorError('access_denied', `${error.message}; run as the user of the node`);
  }
  return new OperatorError('internal_error', messageOf(error));
}

/** The commands that no row of an operation declares, in the order of the help. */
const commands = [addErase, addAuditReaders, addDoctor, addVerify, addDashboard, addBackups, addCluster, addCompletion];

/** With `json`, help that was not requested is not printed. With `hasDefaults`, `ptf peers` lists the peers. */
export function programOf(
  deps: CommandDeps,
  json: boolean,
  done: (rendered: Rendered) => void,
  hasDefaults = true,
): Command {
  const { terminal } = deps;
  const program = writesTo(json ? { ...terminal, err: () => {} } : terminal, new Command('ptf'))
    .description('Operates a running node of the peer trust federation, found by its data folder.')
    .version(deps.runtime.version, '--version', 'print the version')
    .option('--json', 'print one JSON document')
    .option('--wide', 'print every column whole, however wide the terminal is')
    .option(
      '--data-dir <folder>',
      'data folder of the node (default: DATA_DIR, also from the file PTF_ENV_FILE, .env or /etc/ptf/ptf.env, else ./snapshots)',
    )
    .addHelpText('after', examples('status', 'peers list --json', 'verify --data-dir /var/lib/ptf'))
    .addHelpText('after', '\nExit codes: 0 done, 1 refused, 2 wrong usage, 3 no node');
  const dir = (): string => resolve(program.opts<{ dataDir?: string }>().dataDir ?? deps.defaultDir());
  const session: CommandContext = {
    ...deps,
    dir,
    async ask(command, request, progress) {
      const checked = checkRequest(command, request);
      if (!checked.ok) throw new OperatorError('wrong_usage', violationTexts(checked).join('; '), 2, checked.details);
      return callNode(dir(), command, request, progress);
    },
    done,
  };
  addOperations(program, session);
  addCommand(program, session, 'peers-list', { ...peersList, isDefault: hasDefaults });
  for (const add of commands) add(program, session);
  return program;
}
