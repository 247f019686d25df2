/**
 * Runs one `ptf` command: turns a command line into output and an exit code, without touching the process. Exit codes:
 * 0 done, 1 refused, 2 wrong usage, 3 no node.
 */
import { CommanderError } from 'commander';
import { hasCode, messageOf } from '../../errors.js';
import { DiskFullError, UnreadError } from '../../group/ports/storage.js';
import { printable } from '../../operations/text-table.js';
import type { CommandDeps, Rendered } from './command-context.js';
import { OperatorError } from './node-client.js';
import { programOf } from './program.js';

export type ExitCode = 0 | 1 | 2 | 3;

/** Runs one command line (without interpreter and script) and prints the result. Never rejects. */
export async function runCommand(args: readonly string[], deps: CommandDeps): Promise<ExitCode> {
  const json = args.includes('--json');
  const width = args.includes('--wide') ? Number.POSITIVE_INFINITY : deps.terminal.width;
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
    // Joins the lines of the message, since commander puts suggestions on a line of their own.
    const own = error.message.replace(/^error: /, '').replaceAll('\n', ' ');
    const text = error.code === 'commander.help' ? missing : own;
    return new OperatorError('wrong_usage', `${text.replace(/\.$/, '')}; see --help`, 2);
  }
  if (hasCode(error, 'EACCES')) {
    return new OperatorError('access_denied', `${error.message}; run as the user of the node`);
  }
  return new OperatorError('internal_error', messageOf(error));
}
