/** `ptf-peer import`: reads a ban list and sends it through the spool, or prints the events that it would send. */
import { join } from 'node:path';
import type { Command } from 'commander';
import { assertDescribed, type DecodedList, listOf } from '../import/list-format.js';
import { type ImportPlan, type PlanOptions, planOf } from '../import/plan.js';
import { type Counts, countsOf, planLines, planText } from '../import/plan-document.js';
import { sendEntries } from '../import/send.js';
import { BAN_HALF_LIFE_DAYS, HALF_LIFE_DAYS } from '../import/severity.js';
import { groupKinds } from '../node/known-kinds.js';
import { peerClient } from '../node/node-reader.js';
import { PeerError, uncountedText, wrongUsage } from '../peer-error.js';
import { type Source, sourceOf } from '../sources/source.js';
import { addListOptions, isCommand, kindList, type ListOptions, wholeNumber } from './options.js';
import type { Session } from './session.js';

interface ImportOptions extends ListOptions {
  readonly dryRun?: true;
  readonly kinds?: readonly string[];
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
   "refused": [{"line", "reason"}], "left_out"?: {"mute": 1}, "unknown_cells"?: [name]}
  state: send, expired, lifted or faded; left_out counts the refused lines that are measures but no bans

A ban has severity 1 if it is permanent or lasts 30 days or longer, else its days / 30, at least 0.2. A ban without a
known end is permanent; one without a known begin begins now. Marks of a list without an admin have 0.8 (cheating) and
0.5 (toxicity).

Old bans count little, since a ban loses half of its weight in each half-life of the group (180 days as a rule; marks in
30). What has less than 1 % left is not sent, unless --send-faded asks for it. --restate dates bans that are permanent or
still run as of today instead of when they began: give it only where your server stands by all of them today, since
they then count like new evidence. Repeated on another day it re-states them again. A ban without a date is one event however
often it is imported: where it was lifted and imposed anew, only --restate reports it again.

The same ban has the same event id in every import, so that a second import changes nothing, and an interrupted one
goes on where it stopped. Names, reasons, addresses and admins never leave this machine.

Exit codes: 0 done, 1 some lines refused, 2 wrong usage, 3 node unreachable, peer refused or disk failed,
            4 format not recognised

Examples:
  ptf-peer import banned-players.json --dry-run
  ptf-peer import Bans.cfg --origin community-list`;

export function addImport(program: Command, session: Session): void {
  const command = program.command('import').description('read a ban list of a game or tool and report its bans');
  addListOptions(command)
    .option('--dry-run', 'print what would be sent, and what is refused and why; nothing leaves this machine')
    .option('--game <id>', 'the game to report for (default: the first of the configuration)')
    .option('--kinds <list>', "kinds of ids to report, the preferred first (default: the group's)", kindList)
    .option('--half-life <days>', "the group's half-life of reports, for marks", wholeNumber(0, 3_650), HALF_LIFE_DAYS)
    .option('--ban-half-life <days>', "the group's half-life of bans", wholeNumber(0, 3_650), BAN_HALF_LIFE_DAYS)
    .option('--send-faded', 'also send bans of which decay has left less than 1 %')
    .option('--restate', 'date permanent and still active bans as of today; see below')
    .addHelpText('after', help)
    .action(async (list: readonly string[], options: ImportOptions) => {
      const source = await sourceOf(list, isCommand(program), { ...options, input: session.input });
      await (options.dryRun === true ? dryRun : send)(source, options, session);
    });
}

async function dryRun(source: Source, options: ImportOptions, session: Session): Promise<void> {
  const { terminal, json, end } = session;
  const plan = await planned(source, options, options.kinds ?? null, session);
  if (json()) print(planText(plan), terminal);
  else {
    print(planLines(source.label, plan), terminal);
    const counts = countsOf(plan);
    terminal.out(`${counts.send} to send, ${restOf(plan, counts)}\nNothing was sent.\n`);
  }
  end(plan.refused.length > 0 ? 1 : 0);
}

/** Returns the plan of the list. The text of the list can be freed once it exists. */
async function planned(
  source: Source,
  options: ImportOptions,
  kinds: PlanOptions['kinds'],
  { terminal, json, ending }: Session,
): Promise<ImportPlan> {
  const found = await listIn(source, options, ending);
  const { label } = source;
  if (!json()) terminal.err(`${label}: ${found.format.title} (${found.why}), ${found.encoding}\n`);
  const halfLives = { halfLifeDays: options.halfLife, banHalfLifeDays: options.banHalfLife };
  const plan = planOf(found.format, found.text, { ...options, ...halfLives, now: Date.now(), kinds });
  const { harmless } = plan.unknown;
  if (harmless.length > 0 && !json()) terminal.err(`${label}: cells without a known meaning: ${harmless.join(', ')}\n`);
  assertDescribed(plan);
  return plan;
}

/** Reads the list. A separate function, so that its bytes can be freed before the plan is made. */
async function listIn(source: Source, options: ImportOptions, signal: AbortSignal): Promise<DecodedList> {
  return listOf(await source.read(signal), { ...options, name: source.name });
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

function restOf({ leftOut }: ImportPlan, { expired, lifted, faded, refused }: Counts): string {
  const measures = Object.entries(leftOut).map(([name, count]) => `${count} ${name}`);
  const among = measures.length === 0 ? '' : `, of which are no bans: ${measures.join(', ')}`;
  return `${expired} expired, ${lifted} lifted, ${faded} faded, ${refused} lines refused${among}`;
}

async function send(source: Source, options: ImportOptions, session: Session): Promise<void> {
  const { terminal, json, ending } = session;
  const config = await session.config();
  const { url, peerId, groupSalt, stateDir, gameIds } = config;
  const gameId = options.game ?? gameIds[0]!;
  if (!gameIds.includes(gameId)) throw wrongUsage(`--game must be one of the configuration: ${gameIds.join(', ')}`);
  const kinds = await groupKinds(url, groupSalt);
  const plan = await planned(source, options, options.kinds ?? kinds, session);
  const entries = plan.entries.filter(({ state }) => state === 'send');
  const progress = terminal.progress('sending');
  const client = peerClient(config);
  const folder = join(stateDir, 'imports');
  try {
    const sent = await sendEntries(entries, {
      to: client,
      events: { peerId, groupSalt, list: plan.list, gameId, origin: options.origin },
      folder,
      signal: ending,
      onProgress: (done, total) => progress.to(done, total),
    });
    progress.end();
    const refused = [...plan.refused, ...sent.refused];
    const counted = { ...countsOf(plan), refused: refused.length };
    const { expired, lifted, faded } = counted;
    const { delivered, duplicates, uncounted, refusedBefore, waiting, obstacle } = sent;
    const next = `${waiting} events are waiting on disk, and the rest in the list; run the same command again to continue`;
    const fault = obstacle === null ? null : { error: `${obstacle.message}; ${next}`, code: obstacle.code };
    if (json()) {
      const counts = { delivered, duplicates, uncounted, waiting, expired, lifted, faded, left_out: plan.leftOut };
      const refusals = { refused, refused_before: refusedBefore };
      terminal.out(`${JSON.stringify({ format: plan.format, ...counts, ...refusals, ...fault })}\n`);
    } else {
      for (const { line, reason } of refused) terminal.err(`${source.label}:${line}: refused: ${reason}\n`);
      const before = `${refusedBefore} events of an earlier import are refused: see ${folder}/spool/set-aside.ndjson`;
      if (refusedBefore > 0) terminal.err(`${before}\n`);
      terminal.out(`${delivered} sent, of which the node knew ${duplicates}; ${restOf(plan, counted)}\n`);
      const undated = entries.filter(({ at }) => at === null).length;
      // A ban without a date is the same event in each import, also after the player was banned anew.
      const known = `up to ${Math.min(undated, duplicates)} bans without a date were known: one that was lifted in between stays lifted and does not count; --restate reports it anew, as of today\n`;
      if (duplicates > 0 && undated > 0) terminal.out(known);
      if (uncounted > 0) terminal.out(`${uncountedText(uncounted)}\n`);
    }
    if (fault !== null && !json()) throw new PeerError(fault.code, fault.error, 3);
    session.end(fault !== null ? 3 : refused.length + refusedBefore > 0 ? 1 : 0);
  } finally {
    progress.end();
    await client.close();
  }
}
