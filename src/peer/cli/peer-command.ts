/** Runs `ptf-peer`: a command line becomes output and an exit code. Streams, environment and signals are arguments. */
import { Command, CommanderError } from 'commander';
import { TrustError } from '../../client/entry.js';
import { optionsOf, usageText, writesTo } from '../../terminal.js';
import { loadPeerConfig } from '../config/peer-config.js';
import { codeOf } from '../config/peer-file.js';
import { diskError, type ExitCode, endOf, PeerError, wrongUsage } from '../peer-error.js';
import { addDescribe } from './describe-command.js';
import { addDoctor } from './doctor-command.js';
import { addExport } from './export-command.js';
import { addImport } from './import-command.js';
import { addRegister } from './register-command.js';
import { addRelay } from './relay-command.js';
import type { PeerDeps, Session } from './session.js';
import { addSidecar } from './sidecar-command.js';
import { addWatch } from './watch-command.js';

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
    if (optionsOf(args).includes('--json'))
      deps.terminal.out(`${JSON.stringify({ error: end.message, code: end.code })}\n`);
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
  if (error instanceof Error && error.name === 'AbortError') return new PeerError('closed', 'interrupted', 3);
  if (error instanceof CommanderError) return wrongUsage(usageText(error, 'a command is missing'));
  if (error instanceof Error && codeOf(error)) return diskError(error) ?? wrongUsage(error.message);
  return new PeerError('internal_error', error instanceof Error ? error.message : String(error), 1);
}

/** In the order of the help. */
const commands = [addRegister, addDoctor, addImport, addDescribe, addExport, addSidecar, addWatch, addRelay];

const help = `
Examples:
  ptf-peer register --url https://trust.example.net --name "Arena EU 1" --game arena
  ptf-peer doctor

Exit codes: 0 done, 1 some lines or checks refused, 2 wrong usage, 3 node unreachable, peer
            refused or disk failed, 4 format not recognised
Variables replace members of the file: PTF_PEER_URL, PTF_PEER_ID, PTF_PEER_API_KEY[_FILE],
            PTF_PEER_GROUP_SALT[_FILE], PTF_PEER_SIGNING_KEY_FILE, PTF_PEER_GAME_IDS, PTF_PEER_STATE_DIR`;

function programOf(deps: PeerDeps, end: (code: ExitCode) => void): Command {
  const { terminal, version } = deps;
  const program = writesTo(terminal, new Command('ptf-peer'))
    .description("Connects a game server to its group's node: lists, a local sidecar, webhooks.")
    .version(version, '--version', 'print the version')
    .option('--config <file>', 'configuration (default: PTF_PEER_CONFIG, else ~/.config/ptf-peer/config.json)')
    .option('--json', 'print one JSON document if the command has one')
    .addHelpText('after', help);
  const options = () => program.opts<{ config?: string; json?: boolean }>();
  const session: Session = {
    ...deps,
    configOption: () => options().config,
    json: () => options().json === true,
    config: () => loadPeerConfig(deps, options().config),
    end,
  };
  for (const add of commands) add(program, session);
  return program;
}
