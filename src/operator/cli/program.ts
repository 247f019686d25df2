/** Builds the command line of `ptf`. */
import { resolve } from 'node:path';
import { Command } from 'commander';
import { checkRequest } from '../../operations/table.js';
import { violationTexts } from '../../validation/validator.js';
import { addBackup, addRestore } from './backups.js';
import { type CommandContext, type CommandDeps, examples, type Rendered } from './command-context.js';
import { addCluster } from './commands/cluster-command.js';
import { addDashboard } from './commands/dashboard-command.js';
import { addCompletion } from './completion.js';
import { addDoctor } from './doctor.js';
import { addErase } from './erase.js';
import { addAuditVerify, addExport } from './export.js';
import { callNode, OperatorError } from './node-client.js';
import { addCommand, addOperations } from './operation-commands.js';
import { peersList } from './peers-list.js';
import { addVerify } from './verify.js';

const helpWidthMax = 100;

/** With `json`, help that was not requested is not printed. With `hasDefaults`, `ptf peers` lists the peers. */
export function programOf(
  deps: CommandDeps,
  json: boolean,
  done: (rendered: Rendered) => void,
  hasDefaults = true,
): Command {
  const { terminal } = deps;
  const program = new Command('ptf')
    .description('Operates a running node of the peer trust federation, found by its data folder.')
    .version(deps.runtime.version, '--version', 'print the version')
    .option('--json', 'print one JSON document')
    .option('--wide', 'print every column whole, however wide the terminal is')
    .option(
      '--data-dir <folder>',
      'data folder of the node (default: DATA_DIR, also from the file PTF_ENV_FILE, .env or /etc/ptf/ptf.env, else ./snapshots)',
    )
    .addHelpText('after', examples('status', 'peers list --json', 'verify --data-dir /var/lib/ptf'))
    .addHelpText('after', '\nExit codes: 0 done, 1 refused, 2 wrong usage, 3 no node')
    .configureHelp({ showGlobalOptions: true })
    .configureOutput({
      writeOut: terminal.out,
      writeErr: json ? () => {} : terminal.err,
      // Errors are printed once, in the form of every other error.
      outputError: () => {},
      getOutHelpWidth: () => Math.min(terminal.width, helpWidthMax),
      getErrHelpWidth: () => Math.min(terminal.width, helpWidthMax),
    })
    .exitOverride();
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
  addErase(program, session);
  addAuditVerify(program, session);
  addExport(program, session);
  addDoctor(program, session);
  addVerify(program, session);
  addDashboard(program, session);
  addBackup(program, session);
  addRestore(program, session);
  addCluster(program, session);
  addCompletion(program, session);
  return program;
}
