/** `ptf-peer import`: reads a ban list and sends it through the spool, or prints the events that it would send. */
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { type Command, Option } from 'commander';
import { bounds } from '../../client/bounds.js';
import { isTimeZone } from '../formats/reading/time-cells.js';
import { type DecodedList, formatNames, listOf } from '../import/list-format.js';
import { type ImportPlan, type PlanOptions, planOf } from '../import/plan.js';
import { BAN_HALF_LIFE_DAYS, HALF_LIFE_DAYS } from '../import/plan-constants.js';
import { countsOf, planLines, planText } from '../import/plan-document.js';
import { sendEntries } from '../import/send.js';
import { groupKinds } from '../node/group-kinds.js';
import { peerClient } from '../node/peer-client.js';
import { uncountedText } from '../node/plain-words.js';
import { PeerError, wrongUsage } from '../peer-error.js';
import { kindList, share, wholeNumber } from './options.js';
import { examples, type Session } from './session.js';

interface ImportOptions {
  readonly format: string;
  readonly dryRun?: true;
  readonly origin?: string;
  readonly timeZone: string;
  readonly game?: string;
  readonly kinds?: readonly string[];
  readonly offlineServer?: string;
  readonly severity?: number;
  readonly halfLife: number;
  readonly banHalfLife: number;
  readonly sendFaded?: true;
  readonly restate?: true;
}

const pieceLength = 65_536;

const help = `
A dry run sends nothing and needs no node and no configuration; --kinds tells it the kinds of the group.
With --json it prints one document:
  {"format", "events": [{"player_id", "kind", "line", "banned_at", "expires_at", "state", "severity", "note"?}],
   "refused": [{"line", "reason"}]}     state: send, expired, lifted or faded

A ban has severity 1 if it is permanent or lasts 30 days or longer, else its days / 30, at least 0.2. A ban without a
known end is permanent; one without a known begin begins now. Marks of a list without an admin have 0.8 (cheating) and
0.5 (toxicity).

Old bans count little, since a ban loses half of its weight in each half-life of the group (180 days as a rule; marks in
30). What has less than 1 % left is not sent, unless --send-faded asks for it. --restate dates bans that are permanent or
still run as of today instead of when they began: give it only where your server stands by all of them today, since
they then count like new evidence. Repeated on another day it re-states them again.

The same ban has the same event id in every import, so that a second import changes nothing, and an interrupted one
goes on where it stopped. Names, reasons, addresses and admins never leave this machine.`;

export function addImport(program: Command, session: Session): void {
  program
    .command('import <file>')
    .description('read a ban list of a game or tool and report its bans')
    .addOption(new Option('--format <format>', 'format of the list').choices(formatNames).default('auto'))
    .option('--dry-run', 'print what would be sent, and what is refused and why; nothing leaves this machine')
    .option('--origin <name>', 'name of the public list, as the operator of the node declared it')
    .option('--time-zone <zone>', 'IANA zone of times without a zone, such as Europe/Berlin', 'UTC')
    .option('--game <id>', 'the game to report for (default: the first of the configuration)')
    .option('--kinds <list>', "kinds of ids to report, the preferred first (default: the group's)", kindList)
    .option('--offline-server <name>', 'the server in offline mode that created Minecraft UUIDs of version 3')
    .option('--severity <number>', 'severity of every event (default: by the length of the ban; see below)', share)
    .option('--half-life <days>', "the group's half-life of reports, for marks", wholeNumber(0, 3_650), HALF_LIFE_DAYS)
    .option('--ban-half-life <days>', "the group's half-life of bans", wholeNumber(0, 3_650), BAN_HALF_LIFE_DAYS)
    .option('--send-faded', 'also send bans of which decay has left less than 1 %')
    .option('--restate', 'date permanent and still active bans as of today; see below')
    .addHelpText('after', help)
    .addHelpText(
      'after',
      '\nExit codes: 0 done, 1 some lines refused, 2 wrong usage, 3 node unreachable or peer refused, 4 format not recognised',
    )
    .addHelpText('after', examples('import banned-players.json --dry-run', 'import Bans.cfg --origin community-list'))
    .action((file: string, options: ImportOptions) => runImport(file, options, session));
}

async function runImport(file: string, options: ImportOptions, session: Session): Promise<void> {
  if (!isTimeZone(options.timeZone)) throw wrongUsage(`--time-zone must be an IANA zone such as Europe/Berlin`);
  if (options.dryRun === true) {
    const plan = await planned(file, options, options.kinds ?? null, session);
    printPlan(file, plan, session);
    session.end(plan.refused.length > 0 ? 1 : 0);
    return;
  }
  await send(file, options, session);
}

/** Returns the plan of the file. The text of the list can be freed once it exists. */
async function planned(
  file: string,
  options: ImportOptions,
  kinds: PlanOptions['kinds'],
  { terminal, json }: Session,
): Promise<ImportPlan> {
  const found = await listIn(file, options.format);
  if (!json()) terminal.err(`${file}: ${found.format.title} (${found.why}), ${found.encoding}\n`);
  return planOf(found.format, found.text, {
    now: Date.now(),
    timeZone: options.timeZone,
    kinds,
    offlineServer: options.offlineServer,
    severity: options.severity ?? null,
    halfLifeDays: options.halfLife,
    banHalfLifeDays: options.banHalfLife,
    sendFaded: options.sendFaded === true,
    restate: options.restate === true,
  });
}

/** Reads the list. A separate function, so that its bytes can be freed before the plan is made. */
async function listIn(file: string, format: string): Promise<DecodedList> {
  return listOf(await bytesOf(file), format);
}

async function bytesOf(file: string): Promise<Uint8Array> {
  const { size } = await stat(file);
  if (size > bounds.importFileBytes) {
    throw wrongUsage(`${file} is larger than ${bounds.importFileBytes} bytes; split it`);
  }
  return readFile(file);
}

function printPlan(file: string, plan: ImportPlan, { terminal, json }: Session): void {
  if (json()) {
    print(planText(plan), terminal);
    return;
  }
  print(planLines(file, plan), terminal);
  terminal.out(`${summary(plan)}\nNothing was sent.\n`);
}

function print(texts: Iterable<string>, { out }: Session['terminal']): void {
  let piece = '';
  for (const text of texts) {
    piece += text;
    if (piece.length < pieceLength) continue;
    out(piece);
    piece = '';
  }
  out(piece);
}

function summary(plan: ImportPlan): string {
  const { send, expired, lifted, faded, refused } = countsOf(plan);
  return `${send} to send, ${expired} expired, ${lifted} lifted, ${faded} faded, ${refused} lines refused`;
}

async function send(file: string, options: ImportOptions, session: Session): Promise<void> {
  const { terminal, json, ending } = session;
  const config = await session.config();
  const { url, peerId, groupSalt, stateDir, gameIds } = config;
  const gameId = options.game ?? gameIds[0]!;
  if (!gameIds.includes(gameId)) throw wrongUsage(`--game must be one of the configuration: ${gameIds.join(', ')}`);
  const kinds = await groupKinds(url, groupSalt);
  const plan = await planned(file, options, options.kinds ?? kinds, session);
  const entries = plan.entries.filter(({ state }) => state === 'send');
  const progress = terminal.progress('sending');
  const client = peerClient(config);
  try {
    const sent = await sendEntries(entries, {
      to: client,
      events: {
        peerId,
        groupSalt,
        list: plan.list,
        gameId,
        origin: options.origin,
      },
      folder: join(stateDir, 'imports'),
      signal: ending,
      onProgress: (done, total) => progress.to(done, total),
    });
    progress.end();
    const refused = [...plan.refused, ...sent.refused];
    const { expired, lifted, faded } = countsOf(plan);
    const { delivered, duplicates, uncounted, waiting, obstacle } = sent;
    if (json()) {
      const counts = { delivered, duplicates, uncounted, waiting, expired, lifted, faded };
      terminal.out(`${JSON.stringify({ format: plan.format, ...counts, refused })}\n`);
    } else {
      for (const { line, reason } of refused) terminal.err(`${file}:${line}: refused: ${reason}\n`);
      terminal.out(
        `${delivered} sent, of which the node knew ${duplicates}; ${expired} expired, ${lifted} lifted, ${faded} faded, ${refused.length} lines refused\n`,
      );
      if (uncounted > 0) terminal.out(`${uncountedText(uncounted)}\n`);
    }
    if (obstacle !== null) {
      const next = `${waiting} events are waiting on disk, and the rest in the list; run the same command again to continue`;
      throw new PeerError(obstacle.code, `${obstacle.message}; ${next}`, 3);
    }
    session.end(refused.length > 0 ? 1 : 0);
  } finally {
    progress.end();
    await client.close();
  }
}
