/** `ptf-peer watch FILE`: follows a native ban list until it is stopped. */
import type { Command } from 'commander';
import { wrongUsage } from '../peer-error.js';
import { sourceOf } from '../sources/source.js';
import { type WatchOptions, watchList } from '../watch/list-watch.js';
import { addListOptions, duration, isCommand, type ListOptions } from './options.js';
import type { Session } from './session.js';

type WatchCommandOptions = ListOptions & Pick<WatchOptions, 'every' | 'newOnly' | 'allowMassLift'>;

const explained = `
A ban has severity 1 if it is permanent or lasts 30 days or longer, else its days / 30, at least 0.2.
New bans are reported within two seconds; bans that leave the list before their time are withdrawn once the list has
been unchanged for two seconds. A last line without a line break counts as whole after ten seconds, and a JSON or XML
list that is not whole by then as damaged. Bans that leave by a rotation stay reported. If half of the persons of a list
or more leave it at once (one of two, or all), nothing is withdrawn: their bans stay reported until they are listed again
or a watch runs with --allow-mass-lift. A list that is damaged or cannot be read withdraws nothing either.
Names, reasons and addresses are never sent.

Examples:
  ptf-peer watch /srv/minecraft/banned-players.json
  ptf-peer watch https://lists.example.net/bans.csv --every 5m
  ptf-peer watch --every 5m --format litebans -- mysql --batch litebans -e 'SELECT * FROM litebans_bans'`;

export function addWatch(program: Command, session: Session): void {
  const command = program
    .command('watch')
    .description('follow a native ban list: report new bans, withdraw lifted ones');
  addListOptions(command)
    .option('--every <time>', 'how often to read what is no plain file, such as 30s, 5m, 1h', duration)
    .option('--game <id>', 'game to report for (default: the only game of the configuration)')
    .option('--new-only', 'treat the bans at the first start as known')
    .option('--allow-mass-lift', 'also withdraw bans that left the list with half of it or more')
    .addHelpText('after', explained)
    .action(async (list: readonly string[], options: WatchCommandOptions) => {
      if (list[0] === '-') throw wrongUsage('standard input cannot be followed; give a file, an address or a command');
      const config = await session.config();
      const gameId = options.game ?? (config.gameIds.length === 1 ? config.gameIds[0]! : '');
      if (!config.gameIds.includes(gameId)) throw wrongUsage(`--game must be one of ${config.gameIds.join(', ')}`);
      await watchList({
        ...options,
        config,
        source: await sourceOf(list, isCommand(program), options),
        gameId,
        log: (line) => session.terminal.err(`${new Date().toISOString()} watch ${line}\n`),
        signal: session.ending,
      });
    });
}
