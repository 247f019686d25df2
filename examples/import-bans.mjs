/**
 * Imports a list of bans as trust events, with a progress bar. May be run again: the ids of the events follow from the rows and the peer, so
 * what is stored already is not counted twice.
 *
 *     TRUST_URL=… TRUST_PEER_ID=… TRUST_API_KEY=… TRUST_GROUP_SALT=… node import-bans.mjs bans.csv --game arena
 *
 * The file is CSV with a head (`player_id,banned_at,severity`, the last two optional, in any order), or NDJSON with the same members
 * where its name ends in `.ndjson`. Needs the packages peer-trust-federation and cli-progress.
 */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { env, exit, stderr } from 'node:process';
import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';
import { SingleBar } from 'cli-progress';
import { TrustClient } from 'peer-trust-federation/client';

const eventsAtOnce = 500;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { game: { type: 'string', default: 'arena' } },
});
const [file] = positionals;
if (file === undefined) {
  console.error('usage: import-bans.mjs FILE.csv|FILE.ndjson [--game GAME]');
  exit(2);
}

const client = new TrustClient({
  url: env.TRUST_URL ?? 'http://127.0.0.1:8080',
  peerId: required('TRUST_PEER_ID'),
  apiKey: required('TRUST_API_KEY'),
  groupSalt: required('TRUST_GROUP_SALT'),
  // A bulk import may wait for a node that is restarted.
  deadlineMs: 120_000,
});

const total = { accepted: 0, duplicates: 0, rejected: 0, unreadable: 0 };
const { size } = await stat(file);
const format =
  '{bar} {percentage}% | {accepted} imported, {duplicates} known, {rejected} rejected | {eta_formatted} left';
const bar = new SingleBar({ format, stream: stderr, noTTYOutput: false, hideCursor: true });
bar.start(size, 0, total);

let bytes = 0;
/** @type {import('peer-trust-federation/client').TrustEvent[]} */
let batch = [];
for await (const row of rowsOf(file)) {
  bytes += row.bytes;
  const event = eventOf(row);
  if (event === undefined) total.unreadable++;
  else batch.push(event);
  if (batch.length === eventsAtOnce) await send();
}
await send();
bar.stop();
await client.close();
console.log(
  `${total.accepted} imported, ${total.duplicates} known already, ${total.rejected} rejected, ${total.unreadable} unreadable`,
);
exit(total.rejected + total.unreadable > 0 ? 1 : 0);

async function send() {
  const { accepted, duplicates, rejected, results } = await client.submitMany(batch);
  total.accepted += accepted;
  total.duplicates += duplicates;
  total.rejected += rejected;
  for (const { eventId, code, reason } of results) if (code !== null) console.error(`\n${eventId}: ${code}: ${reason}`);
  bar.update(bytes, total);
  batch = [];
}

/** @param {string} path */
async function* rowsOf(path) {
  const lines = createInterface({ input: createReadStream(path, 'utf8'), crlfDelay: Number.POSITIVE_INFINITY });
  const isCsv = !path.endsWith('.ndjson');
  /** @type {string[] | undefined} */
  let head;
  for await (const line of lines) {
    const length = Buffer.byteLength(line) + 1;
    if (line.trim() === '') continue;
    if (isCsv && head === undefined) {
      head = cellsOf(line.replace(/^\ufeff/, '')).map((name) => name.trim());
      continue;
    }
    yield {
      bytes: length,
      cells: isCsv ? Object.fromEntries(cellsOf(line).map((cell, at) => [head?.[at], cell])) : json(line),
    };
  }
}

/** @param {{cells: any}} row @returns {import('peer-trust-federation/client').TrustEvent | undefined} */
function eventOf({ cells }) {
  const playerId = typeof cells?.player_id === 'string' ? cells.player_id.trim() : '';
  const given = cells?.severity ?? '';
  const severity = given === '' ? 1 : Number(given);
  const at = cells?.banned_at ? Date.parse(cells.banned_at) : Date.now();
  if (playerId === '' || Number.isNaN(at) || Number.isNaN(severity)) return undefined;
  const row = createHash('sha256').update(
    JSON.stringify([env.TRUST_PEER_ID, playerId, cells.banned_at ?? '', severity, env.TRUST_GROUP_SALT]),
  );
  const eventId = `ban-import:${row.digest('hex').slice(0, 40)}`;
  return { eventType: 'ban_applied', playerId, gameId: values.game, severity, at, eventId };
}

/** The cells of one line of CSV (RFC 4180, without line breaks inside of cells). @param {string} line */
function cellsOf(line) {
  return [...line.matchAll(/(?<=^|,)(?:"((?:[^"]|"")*)"|([^,]*))/g)].map(([, quoted, plain]) =>
    quoted === undefined ? (plain ?? '') : quoted.replaceAll('""', '"'),
  );
}

/** @param {string} line */
function json(line) {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

/** @param {string} name */
function required(name) {
  const value = env[name];
  if (!value) throw new Error(`${name} must be set`);
  return value;
}
