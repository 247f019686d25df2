/**
 * Imports a list of bans as trust events, with a progress bar. May be run again: event ids follow from the rows and the
 * peer, so what is stored already is not counted twice.
 *
 *     TRUST_URL=… TRUST_PEER_ID=… TRUST_API_KEY=… TRUST_GROUP_SALT=… node import-bans.mjs bans.csv --game arena
 *
 * The file is CSV whose first row names the columns (`player_id`, and if you have them `banned_at`, `expires_at` and
 * `severity`, in any order), or NDJSON with the same members where its name ends in `.ndjson`. Give a CSV file without
 * such a row its columns: `--columns player_id,banned_at`.
 *
 * A ban without a severity has 1 if it is permanent or lasts 30 days or longer, otherwise days / 30, at least 0.2.
 *
 * Exit codes: 0 all rows are in, 1 some rows were refused, 2 wrong usage or a file that cannot be read, 3 the node took
 * nothing more.
 *
 * Needs the packages peer-trust-federation, cli-progress and csv-parse.
 */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { env, exit, stderr } from 'node:process';
import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';
import { SingleBar } from 'cli-progress';
import { CsvError, parse } from 'csv-parse';
import { TrustClient, TrustError } from 'peer-trust-federation/client';

const eventsAtOnce = 500;
const usage = 'usage: import-bans.mjs FILE.csv|FILE.ndjson [--game GAME] [--columns NAME,NAME]';

/** A fault that the person at the terminal can mend; printed without a stack trace. */
class Fault extends Error {
  /** @param {string} message @param {number} code */
  constructor(message, code = 2) {
    super(message);
    this.code = code;
  }
}

/** @typedef {{ line: number, bytes: number, cells: any, fault?: string }} Row */

try {
  exit(await main());
} catch (error) {
  if (error instanceof Fault) console.error(error.message);
  else if (error instanceof TrustError) console.error(`${error.code}: ${error.message}`);
  else if (error instanceof Error && 'syscall' in error) console.error(error.message);
  else throw error;
  exit(error instanceof Fault ? error.code : error instanceof TrustError && error.code !== 'invalid_argument' ? 3 : 2);
}

async function main() {
  const { file, game, columns } = readArguments();
  const peerId = required('TRUST_PEER_ID');
  const salt = required('TRUST_GROUP_SALT');
  const client = new TrustClient({
    url: env.TRUST_URL ?? 'http://127.0.0.1:8080',
    peerId,
    apiKey: required('TRUST_API_KEY'),
    groupSalt: salt,
    // A bulk import may wait for a node that is restarted.
    deadlineMs: 120_000,
  });
  const total = { accepted: 0, duplicates: 0, rejected: 0, unreadable: 0, uncounted: 0 };
  const { size } = await stat(file);
  const format =
    '{bar} {percentage}% | {accepted} imported, {duplicates} known, {rejected} rejected | {eta_formatted} left';
  const bar = new SingleBar({ format, stream: stderr, noTTYOutput: false, hideCursor: true });
  bar.start(size, 0, total);
  /** @param {number} line @param {string} reason */
  const refuse = (line, reason) => console.error(`\n${file}:${line}: ${reason}`);

  /** @type {{ line: number, event: import('peer-trust-federation/client').TrustEvent }[]} */
  let batch = [];
  let bytes = 0;
  const send = async () => {
    const { accepted, duplicates, rejected, results } = await client.submitMany(batch.map(({ event }) => event));
    total.accepted += accepted;
    total.duplicates += duplicates;
    total.rejected += rejected;
    total.uncounted += results.filter(({ counts }) => counts === false).length;
    for (const [at, { code, reason }] of results.entries()) {
      if (code !== null) refuse(batch[at]?.line ?? 0, `${code}: ${reason}`);
    }
    bar.update(bytes, total);
    batch = [];
  };

  try {
    for await (const row of file.endsWith('.ndjson') ? jsonRows(file) : csvRows(file, columns)) {
      bytes = row.bytes;
      const fault = row.fault ?? faultOf(row.cells);
      const event = fault === undefined ? eventOf(row.cells, { game, peerId, salt }) : undefined;
      const reason = event === undefined ? fault : refusalOf(client, event);
      if (event !== undefined && reason === undefined) batch.push({ line: row.line, event });
      else {
        total.unreadable++;
        refuse(row.line, reason ?? '');
      }
      if (batch.length === eventsAtOnce) await send();
    }
    await send();
  } finally {
    bar.stop();
    await client.close();
  }
  console.log(
    `${total.accepted} imported, ${total.duplicates} known already, ${total.rejected} rejected, ${total.unreadable} unreadable`,
  );
  if (total.uncounted > 0) {
    console.log(`${total.uncounted} of them are older than 20 half-lives or of severity 0: stored, but no evidence`);
  }
  return total.rejected + total.unreadable > 0 ? 1 : 0;
}

function readArguments() {
  try {
    const { values, positionals } = parseArgs({
      allowPositionals: true,
      options: { game: { type: 'string', default: 'arena' }, columns: { type: 'string' } },
    });
    const [file] = positionals;
    if (file !== undefined && positionals.length === 1) {
      return { file, game: values.game, columns: values.columns?.split(',').map((name) => name.trim()) };
    }
  } catch (error) {
    if (error instanceof Error) throw new Fault(`${error.message}\n${usage}`);
  }
  throw new Fault(usage);
}

/** @param {string} path @param {string[] | undefined} columns @returns {AsyncGenerator<Row>} */
async function* csvRows(path, columns) {
  const source = createReadStream(path);
  const parser = source.pipe(
    parse({ bom: true, info: true, relax_column_count: true, skip_empty_lines: true, skip_records_with_error: false }),
  );
  // `pipe` does not pass errors on.
  source.once('error', (error) => parser.destroy(error));
  let head = columns;
  try {
    for await (const { record, info } of parser) {
      if (head !== undefined) {
        const cells = Object.fromEntries(head.map((name, at) => [name, record[at]]));
        yield { line: info.lines, bytes: info.bytes, cells };
        continue;
      }
      head = record.map((/** @type {string} */ name) => name.trim());
      if (!head?.includes('player_id')) {
        throw new Fault(
          `${path}:1: the first row must name the columns, player_id among them; for a file without such a row add --columns player_id,…`,
        );
      }
    }
  } catch (error) {
    if (error instanceof CsvError) throw new Fault(`${path}: ${error.message}`);
    throw error;
  }
}

/** @param {string} path @returns {AsyncGenerator<Row>} */
async function* jsonRows(path) {
  const lines = createInterface({ input: createReadStream(path, 'utf8'), crlfDelay: Number.POSITIVE_INFINITY });
  let line = 0;
  let bytes = 0;
  for await (const text of lines) {
    line++;
    bytes += Buffer.byteLength(text) + 1;
    if (text.trim() === '') continue;
    try {
      yield { line, bytes, cells: JSON.parse(text) };
    } catch {
      yield { line, bytes, cells: null, fault: 'is not JSON' };
    }
  }
}

/** What makes a row unreadable; undefined where nothing does. @param {any} cells */
function faultOf(cells) {
  if (typeof cells?.player_id !== 'string' || cells.player_id.trim() === '') return 'player_id is missing';
  if (cells.banned_at && Number.isNaN(Date.parse(cells.banned_at))) return 'banned_at is not a date';
  if (cells.expires_at && Number.isNaN(Date.parse(cells.expires_at))) return 'expires_at is not a date';
  if (cells.expires_at && Date.parse(cells.expires_at) <= Date.now()) return 'the ban has ended';
  const severity = severityOf(cells);
  if (!(severity >= 0 && severity <= 1)) return 'severity must be a number from 0 to 1';
  return undefined;
}

/**
 * Why the client would not send an event; undefined where it would. `submitMany` refuses a whole list for one such
 * event.
 * @param {TrustClient} client @param {import('peer-trust-federation/client').TrustEvent} event
 */
function refusalOf(client, event) {
  try {
    client.prepare(event);
    return undefined;
  } catch (error) {
    if (error instanceof TrustError && error.code === 'invalid_argument') return error.message;
    throw error;
  }
}

/** Returns the stated severity, else that of the ban's length. @param {any} cells */
function severityOf({ severity, banned_at, expires_at }) {
  if (severity !== undefined && severity !== null && severity !== '') return Number(severity);
  if (!expires_at) return 1;
  const lengthMs = Date.parse(expires_at) - (banned_at ? Date.parse(banned_at) : Date.now());
  return Math.min(1, Math.max(0.2, lengthMs / (30 * 86_400_000)));
}

/**
 * @param {any} cells
 * @param {{ game: string, peerId: string, salt: string }} from
 * @returns {import('peer-trust-federation/client').TrustEvent}
 */
function eventOf(cells, { game, peerId, salt }) {
  const playerId = cells.player_id.trim();
  const severity = severityOf(cells);
  const at = cells.banned_at ? Date.parse(cells.banned_at) : Date.now();
  // The id must not depend on the time of the import, so the severity of a ban's length is no part of it.
  const stated = severityOf({ severity: cells.severity });
  const row = createHash('sha256').update(JSON.stringify([peerId, playerId, cells.banned_at ?? '', stated, salt]));
  const eventId = `ban-import:${row.digest('hex').slice(0, 40)}`;
  return { eventType: 'ban_applied', playerId, gameId: game, severity, at, eventId };
}

/** A variable's value without one final line break, as every reader of a secret takes it. @param {string} name */
function required(name) {
  const value = env[name]?.replace(/\r?\n$/, '');
  if (!value) throw new Fault(`${name} must be set; see docs/CLIENT.md, "Five minutes"`);
  return value;
}
