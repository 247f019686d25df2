/** Declares the commands, options and help of `ptf-peer`. */
import { Command } from 'commander';
import type { ExitCode } from '../peer-error.js';
import { addDescribe } from './describe-command.js';
import { addDoctor } from './doctor-command.js';
import { addExport } from './export-command.js';
import { addImport } from './import-command.js';
import { addRegister } from './register-command.js';
import { addRelay } from './relay-command.js';
import { type PeerDeps, sessionOf } from './session.js';
import { addSidecar } from './sidecar-command.js';
import { addWatch } from './watch-command.js';

const helpWidthMax = 100;
const help = `
Examples:
  ptf-peer register --url https://trust.example.net --name "Arena EU 1" --game arena
  ptf-peer doctor

Exit codes: 0 done, 1 some lines or checks refused, 2 wrong usage, 3 node unreachable or peer refused,
            4 format not recognised
Variables replace members of the file: PTF_PEER_URL, PTF_PEER_ID, PTF_PEER_API_KEY[_FILE],
            PTF_PEER_GROUP_SALT[_FILE], PTF_PEER_SIGNING_KEY_FILE, PTF_PEER_GAME_IDS, PTF_PEER_STATE_DIR`;

export function programOf(deps: PeerDeps, end: (code: ExitCode) => void): Command {
  const { terminal, version } = deps;
  const program = new Command('ptf-peer')
    .description("Connects a game server to its group's node: lists, a local sidecar, webhooks.")
    .version(version, '--version', 'print the version')
    .option('--config <file>', 'configuration (default: PTF_PEER_CONFIG, else ~/.config/ptf-peer/config.json)')
    .option('--json', 'print one JSON document if the command has one')
    .addHelpText('after', help)
    .configureHelp({ showGlobalOptions: true })
    .configureOutput({
      writeOut: terminal.out,
      writeErr: terminal.err,
      // Errors are printed once, in the form of every other error.
      outputError: () => {},
      getOutHelpWidth: () => Math.min(terminal.width, helpWidthMax),
      getErrHelpWidth: () => Math.min(terminal.width, helpWidthMax),
    })
    .exitOverride();
  const session = sessionOf(deps, () => program.opts(), end);
  addRegister(program, session);
  addDoctor(program, session);
  addImport(program, session);
  addDescribe(program, session);
  addExport(program, session);
  addSidecar(program, session);
  addWatch(program, session);
  addRelay(program, session);
  return program;
}
