/** Runs `ptf-peer`: a command line becomes output and an exit code. Streams, environment and signals are arguments. */
import { CommanderError } from 'commander';
import { TrustError } from '../../client/trust-error.js';
import { type ExitCode, endOf, PeerError, wrongUsage } from '../peer-error.js';
import { programOf } from './peer-program.js';
import type { PeerDeps } from './session.js';

/** Runs one command line (without interpreter and script). Never rejects. */
export async function runPeerCommand(args: readonly string[], deps: PeerDeps): Promise<ExitCode> {
  let code: ExitCode = 0;
  try {
    await programOf(deps, (end) => {
      code = end;
    }).parseAsync(args, { from: 'user' });
    return code;
  } catch (error) {
    // Help or version was requested, and is printed already.
    if (error instanceof CommanderError && error.exitCode === 0) return 0;
    const end = peerErrorOf(error);
    if (args.includes('--json')) deps.terminal.out(`${JSON.stringify({ error: end.message, code: end.code })}\n`);
    else deps.terminal.err(`ptf-peer: ${end.message} (${end.code})\n`);
    return end.exitCode;
  }
}

function peerErrorOf(error: unknown): PeerError {
  if (error instanceof PeerError) return error;
  if (error instanceof TrustError) return endOf(error);
  if (error instanceof CommanderError) {
    const own = error.message.replace(/^error: /, '').replaceAll('\n', ' ');
    return wrongUsage(
      `${error.code === 'commander.help' ? 'a command is missing' : own.replace(/\.$/, '')}; see --help`,
    );
  }
  if (error instanceof Error && 'code' in error && 'syscall' in error) return wrongUsage(error.message);
  return new PeerError('internal_error', error instanceof Error ? error.message : String(error), 1);
}
