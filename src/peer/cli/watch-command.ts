/** `ptf-peer watch FILE`: follows a native ban list until it is stopped. */
import type { Command } from 'commander';
import { formatNames } from '../import/list-format.js';
import { wrongUsage } from '../peer-error.js';
import { watchList } from '../watch/list-watch.js';
import { share } from './options.js';
import { examples, type Session } from './session.js';

interface WatchCommandOptions {
  readonly format: string;
  readonly game?: string;
  readonly severity?: number;
  readonly origin?: string;
  readonly timeZone: string;
  readonly offlineServer?: string;
  readonly newOnly?: true;
  readonly allowMassLift?: true;
}

const explained = `
A ban has severity 1 if it is permanent or lasts 30 days or longer, else its days / 30, at least 0.2.
New bans are reported within two seconds; bans that leave the list before their time are withdrawn once the list has
been unchanged for two seconds. A last line without a line break counts as whole after ten seconds. Bans that leave by a
rotation stay reported. More than five bans, and more than half, are withdrawn at once only with --allow-mass-lift.
Names, reasons and addresses are never sent.`;

export function addWatch(program: Command, session: Session): void {
  program
    .command('watch')
    .description('follow a native ban list: report new bans, withdraw lifted ones')
    .argument('<file>', 'the list')
    .option('--format <name>', `format of the list: ${formatNames.join(', ')}`, 'auto')
    .option('--game <id>', 'game to report for (default: the only game of the configuration)')
    .option('--severity <number>', 'severity of every report (default: by the length of the ban)', share)
    .option('--origin <name>', 'name of the public list, as the operator of the node declared it')
    .option('--time-zone <zone>', 'zone of times without a zone, such as Europe/Paris', 'UTC')
    .option('--offline-server <name>', 'server in offline mode that created Minecraft ids of version 3')
    .option('--new-only', 'treat the bans at the first start as known')
    .option('--allow-mass-lift', 'also withdraw if most bans leave the list at once')
    .addHelpText('after', explained)
    .addHelpText('after', examples('watch /srv/minecraft/banned-players.json', 'watch cfg/banned_user.cfg --game tf2'))
    .action((file: string, options: WatchCommandOptions) => runWatch(file, options, session));
}

async function runWatch(file: string, options: WatchCommandOptions, session: Session): Promise<void> {
  const config = await session.config();
  const gameId = options.game ?? (config.gameIds.length === 1 ? config.gameIds[0] : undefined);
  if (gameId === undefined) throw wrongUsage(`--game must be one of ${config.gameIds.join(', ')}`);
  await watchList({
    config,
    file,
    format: options.format,
    gameId,
    severity: options.severity ?? null,
    origin: options.origin,
    timeZone: options.timeZone,
    offlineServer: options.offlineServer,
    newOnly: options.newOnly === true,
    allowMassLift: options.allowMassLift === true,
    log: (line) => session.terminal.err(`${new Date().toISOString()} watch ${line}\n`),
    signal: session.ending,
  });
}
