/** Runs `ptf-peer`: a command line becomes output and an exit code. Streams, environment and signals are arguments. */
import { CommanderError } from 'commander';
import { TrustError } from '../../client/trust-error.js';
import { type ExitCode, endOf, PeerError, wrongUsage } from '../peer-error.js';
import { programOf } from './peer-program.js';
import type { PeerDeps } from './session.js';

/** Runs one command line (without interpreter and script). Never rejects. */
export async function runPeerCommand(args: readonly string[], world: PeerDeps): Promise<ExitCode> {
  const { out, err } = world.terminal;
  const terminal = {
    ...world.terminal,
    out: (text: string) => out(escaped(text)),
    err: (text: string) => err(escaped(text)),
  };
  const deps = { ...world, terminal };
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

/** Escapes the characters of a list that control a terminal or reverse its text, as JSON does. */
function escaped(text: string): string {
  return text.replace(/(?![\n\t])[\p{Cc}\p{Bidi_Control}]/gu, (found) => {
    return `\\u${found.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
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
