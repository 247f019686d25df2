/** `ptf-peer export`: writes a native ban list of the players of this server that the group does not trust. */
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { type Command, Option } from 'commander';
import { TrustClient } from '../../client/entry.js';
import { bounds, pause, systemRuntime } from '../../client/for-peer.js';
import { type NormalizeOptions, readPlayerId } from '../../player-ids/player-id.js';
import { replaceSmallFile } from '../config/peer-file.js';
import { nativeLists } from '../export/native-lists.js';
import type { Player } from '../formats/player-of.js';
import { eachLine } from '../formats/reading/records.js';
import type { Refused } from '../import/plan.js';
import { groupKinds } from '../node/known-kinds.js';
import { PeerError, wrongUsage } from '../peer-error.js';
import { AllowFile } from '../sidecar/allow-file.js';
import { decodeList, fileBytes } from '../sources/decode.js';
import { duration, kindList, share } from './options.js';
import type { Session } from './session.js';

interface ExportOptions {
  readonly format: string;
  readonly ids: string;
  readonly kind?: readonly string[];
  readonly confidenceMin?: number;
  readonly follow?: string;
  readonly every: number;
  readonly replace?: true;
}

const help = `
The list goes to standard output; ids that do not fit the format are counted on standard error.
--follow replaces FILE atomically when the list changes or FILE is gone, and leaves it alone while the node or the ids
cannot be read. Players of the sidecar's allow list are left out. A ban of this list must not be reported back.
Exit codes: 0 done, 1 some ids refused, 2 wrong usage, 3 node unreachable or disk failed

Examples:
  ptf-peer export --format squad --ids players.txt > Bans.cfg
  ptf-peer export --format rust --ids players.txt --confidence-min 0.5 --follow /srv/rust/cfg/group-bans.cfg --replace`;

export function addExport(program: Command, session: Session): void {
  const names = nativeLists.map(({ name }) => name);
  program
    .command('export')
    .description('print a ban list of your players whose verdict is untrusted')
    .addOption(new Option('--format <format>', 'format of the list').choices(names).makeOptionMandatory())
    .requiredOption('--ids <file>', 'your players, one id per line; the node knows hashes only')
    .option('--kind <kind>', 'the kind of these ids, if their form does not show it', kindList)
    .option(
      '--confidence-min <number>',
      'minimum confidence at which a verdict counts (default: 0; with --follow 0.5)',
      share,
    )
    .option('--follow <file>', 'keep the list in a file of its own, until the command is stopped')
    .addOption(
      new Option('--every <time>', 'how often --follow looks, such as 30s, 5m, 1h')
        .argParser(duration)
        .default(bounds.followMs, `${bounds.followMs / 1_000}s`),
    )
    .option('--replace', 'let --follow replace a file that is not empty')
    .addHelpText('after', help)
    .action((options: ExportOptions) => runExport(options, session));
}

async function runExport(options: ExportOptions, session: Session): Promise<void> {
  const { terminal } = session;
  const { follow, ids } = options;
  if (follow !== undefined) {
    const [list, known] = await Promise.all([follow, ids].map((path) => stat(path).catch(() => null)));
    if (list && list.ino === known?.ino && list.dev === known.dev)
      throw wrongUsage(`--follow names the file of --ids, ${ids}, which the list would replace: name another`);
    if (options.replace !== true && (list?.size ?? 0) > 0)
      throw wrongUsage(`${follow} is not empty, and --follow removes every ban that it did not write: see --replace`);
  }
  const { url, groupSalt, stateDir, apiKey } = await session.config();
  const kinds = (await groupKinds(url, groupSalt)) ?? undefined;
  // Only the stream needs a key.
  const reads = follow === undefined ? { playersMax: 1 } : { playersMax: bounds.playersMaxDefault, apiKey };
  const client = new TrustClient({ url, groupSalt, readBudgetMs: bounds.exportReadMs, playerIdKinds: null, ...reads });
  try {
    const list = () => listIn(options, kinds, client, session, join(stateDir, 'sidecar', 'allow.json'));
    if (follow !== undefined) {
      client.follow();
      return await keepList(follow, list, options.every, session);
    }
    const { write, summary, refused } = await list();
    terminal.out(write(Date.now()));
    for (const { line, reason } of refused) terminal.err(`${ids}:${line}: refused: ${reason}\n`);
    terminal.err(`${summary}\n`);
    session.end(refused.length > 0 ? 1 : 0);
  } finally {
    await client.close();
  }
}

/** Writes the list whenever it changes, until the command ends. A list that cannot be read leaves the file alone. */
async function keepList(
  path: string,
  list: () => ReturnType<typeof listIn>,
  everyMs: number,
  { terminal, ending }: Session,
): Promise<void> {
  const log = (line: string) => terminal.err(`${new Date().toISOString()} export ${line}\n`);
  let written: string | null = null;
  let problem: string | null = null;
  while (!ending.aborted) {
    try {
      const { write, summary } = await list();
      // Some formats contain the time of writing, which is no change.
      const text = write(0);
      if (text !== written || (await stat(path).catch(() => null)) === null) {
        await replaceSmallFile(path, write(Date.now()), 0o644);
        written = text;
        log(`${path}: ${summary}`);
      }
      problem = null;
    } catch (error) {
      if (ending.aborted) return;
      const why = error instanceof Error ? error.message : String(error);
      if (why !== problem) log(`${why}; ${path} stays as it is`);
      problem = why;
    }
    await pause(systemRuntime, everyMs, ending).catch(() => undefined);
  }
}

/**
 * Returns the untrusted among the players of the file of ids, without those of the local allow list. `write` returns
 * the whole list; `at` is in ms since 1970.
 */
async function listIn(
  { format, ids, kind, follow, confidenceMin = follow === undefined ? 0 : 0.5 }: ExportOptions,
  kinds: readonly string[] | undefined,
  client: TrustClient,
  session: Session,
  allowPath: string,
) {
  const list = nativeLists.find(({ name }) => name === format)!;
  const { text } = decodeList(await fileBytes(ids));
  const { players, refused } = knownIds(text, { kind: kind?.[0], kinds });
  // A program that writes the ids anew empties the file for a moment.
  if (follow !== undefined && players.size === 0) throw wrongUsage(`${ids} names no player`);
  const { list: allowed } = await AllowFile.open(allowPath);
  const found = await untrusted([...players], client, confidenceMin, session);
  const listed = found.filter(({ id }) => !allowed.has(client.subjectOf(id)));
  const taken = listed.filter((player) => list.kinds === null || list.kinds.includes(player.kind));
  const left = listed.length - taken.length;
  return {
    write: (at: number) => list.write(taken, at),
    summary: `${taken.length} of ${players.size} players are untrusted and listed${left > 0 ? `; ${left} more have ids that do not fit ${list.name}` : ''}`,
    refused,
  };
}

/** Returns the players whose verdict is untrusted by the node's own answer. Throws if the node does not answer. */
async function untrusted(
  players: readonly (readonly [id: string, kind: string])[],
  client: TrustClient,
  confidenceMin: number,
  { terminal, ending }: Session,
): Promise<Player[]> {
  const progress = terminal.progress('reading');
  const listed: Player[] = [];
  try {
    for (let at = 0; at < players.length; at += bounds.scoresPerCall) {
      const part = players.slice(at, at + bounds.scoresPerCall);
      const ids = part.map(([id]) => id);
      const trusts = await client.scores(ids, { signal: ending, fallback: 'neutral' });
      for (const [i, { verdict, confidence, cause }] of trusts.entries()) {
        if (cause !== null)
          throw new PeerError(cause, 'the node did not answer for all players; nothing was listed', 3);
        const [id, kind] = part[i]!;
        if (verdict === 'untrusted' && confidence >= confidenceMin) listed.push({ id, kind });
      }
      progress.to(Math.min(at + part.length, players.length), players.length);
    }
    return listed;
  } finally {
    progress.end();
  }
}

/**
 * Reads the ids: canonical ones with their kinds, each once, in the order of the file. The text of a line after a
 * comma, a semicolon or a tab is ignored.
 */
export function knownIds(text: string, hints: NormalizeOptions) {
  const players = new Map<string, string>();
  const refused: Refused[] = [];
  const refuse = (line: number, reason: string) => void refused.push({ line, reason });
  eachLine(text, { refuse }, (line, number, isEnded) => {
    const id = line
      .split(/[,;\t]/, 1)[0]!
      .trim()
      .replace(/^"(.*)"$/, '$1');
    if (id === '' || id.startsWith('//')) return;
    // The first line of a table contains the names of its columns.
    if (number === 1 && /^(?:player_?id|steam_?id(?:64)?|uuid|id)$/i.test(id)) return;
    const found = readPlayerId(id, hints);
    if (!found.ok) refuse(number, `${found.reason}: ${found.text}`);
    else if (!isEnded && /:\d+$/.test(id) && !id.includes('7656')) {
      refuse(number, 'the file ends in this id without a line break, so that the id may be truncated');
    } else players.set(found.id, found.kind);
  });
  return { players, refused };
}
