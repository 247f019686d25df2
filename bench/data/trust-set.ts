/**
 * Reads the data sets of the replay and the quality bench: who reported whom, in which direction, and the known truth.
 * One set is `NAME.obs.csv.gz` and `NAME.truth.csv.gz`; `sim_meta.json` beside them describes the attack groups.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';

export interface Observation {
  /** Index into `peers`. */
  readonly peer: number;
  /** Index into `players`. */
  readonly player: number;
  /** -1 lowers trust, 1 raises it. */
  readonly polarity: -1 | 1;
  /** 0 to 1. */
  readonly severity: number;
  /** ms since 1970; null if the set has none. */
  readonly timestampMs: number | null;
}

export interface TrustSet {
  readonly name: string;
  /** Peers in order of first appearance; `players` has the same order. */
  readonly peers: readonly string[];
  readonly players: readonly string[];
  readonly observations: readonly Observation[];
  /** Player index to 1 (bad) or 0. May cover only some of the players. */
  readonly truth: ReadonlyMap<number, 0 | 1>;
  /** Indexes into `peers`. */
  readonly preTrusted: readonly number[];
  /** Indexes into `peers`; used only to judge the scores. */
  readonly adversaries: readonly number[];
  /** Indexes into `players` of the targets of an attack; used only to judge the scores. */
  readonly targets: readonly number[];
}

interface AttackNotes {
  readonly pretrusted?: readonly string[];
  readonly adversaries?: readonly string[];
  readonly targets?: readonly string[];
}

/** The last second with a year of four digits, s since 1970. */
const secondsMax = 253_402_300_799;

const observationsSuffix = '.obs.csv.gz';

/** Returns the names of the sets in a folder, sorted. Throws if the folder has none. */
export function listTrustSets(dir: string): string[] {
  const names = readdirSync(dir)
    .filter((file) => file.endsWith(observationsSuffix))
    .map((file) => file.slice(0, -observationsSuffix.length))
    .sort();
  if (names.length === 0) throw new Error(`${dir} has no data set: no file is named NAME${observationsSuffix}`);
  return names;
}

/** Loads one set. Throws an error that names file and line if a row is malformed. */
export function loadTrustSet(dir: string, name: string): TrustSet {
  const peers = new Names();
  const players = new Names();
  const observations: Observation[] = [];
  for (const { fields, fail } of csvRows(join(dir, `${name}${observationsSuffix}`), 5)) {
    const [peer = '', player = '', polarity, severityText = '', seconds = ''] = fields;
    const severity = Number(severityText);
    if (polarity !== '-1' && polarity !== '1') fail(`polarity ${polarity}`);
    if (severityText === '' || !(severity >= 0 && severity <= 1)) fail(`severity ${severityText}`);
    const timestampMs = seconds === '' ? null : Number(seconds) * 1000;
    if (timestampMs !== null && !(timestampMs >= 0 && timestampMs <= secondsMax * 1000)) fail(`ts ${seconds}`);
    observations.push({
      peer: peers.indexOf(peer),
      player: players.indexOf(player),
      polarity: polarity === '1' ? 1 : -1,
      severity,
      timestampMs,
    });
  }
  if (observations.length === 0) throw new Error(`${join(dir, `${name}${observationsSuffix}`)} has no observation`);

  const notes = attackNotes(dir, name);
  return {
    name,
    peers: peers.list,
    players: players.list,
    observations,
    truth: loadTruth(join(dir, `${name}.truth.csv.gz`), 2, players),
    preTrusted: peers.findAll(notes.pretrusted),
    adversaries: peers.findAll(notes.adversaries),
    targets: players.findAll(notes.targets),
  };
}

/** Loads the truth about the known players; a row begins with a player and 0 or 1. */
export function loadTruth(file: string, columns: number, players: Names): Map<number, 0 | 1> {
  const truth = new Map<number, 0 | 1>();
  for (const { fields, fail } of csvRows(file, columns)) {
    const [player = '', bad] = fields;
    if (bad !== '0' && bad !== '1') fail(`bad ${bad}`);
    const index = players.find(player);
    if (index !== undefined) truth.set(index, bad === '1' ? 1 : 0);
  }
  return truth;
}

/** Numbers names in order of first appearance, after those given at first. */
export class Names {
  readonly list: string[] = [];
  readonly #indexes = new Map<string, number>();

  constructor(names: readonly string[] = []) {
    for (const name of names) this.indexOf(name);
  }

  indexOf(name: string): number {
    let index = this.#indexes.get(name);
    if (index === undefined) {
      index = this.list.push(name) - 1;
      this.#indexes.set(name, index);
    }
    return index;
  }

  find(name: string): number | undefined {
    return this.#indexes.get(name);
  }

  findAll(names: readonly string[] = []): number[] {
    return names.map((name) => this.find(name)).filter((index) => index !== undefined);
  }
}

interface Row {
  readonly fields: readonly string[];
  readonly fail: (what: string) => never;
}

/** Yields the rows after the header, each with a function that throws an error with file and line. */
export function* csvRows(file: string, columns: number): Generator<Row> {
  for (const [index, line] of textOf(file).split(/\r?\n/).entries()) {
    if (index === 0 || line === '') continue;
    const fail = (what: string): never => {
      throw new Error(`${file}:${index + 1}: ${what} is not valid`);
    };
    // The files quote nothing, so every comma is a separator.
    const fields = line.split(',');
    if (fields.length !== columns) fail(`a row of ${fields.length} fields`);
    yield { fields, fail };
  }
}

function textOf(file: string): string {
  const packed = readFileSync(file);
  try {
    return gunzipSync(packed).toString('utf8');
  } catch (error) {
    throw new Error(`${file} is not gzip data, or damaged: ${(error as Error).message}`);
  }
}

function attackNotes(dir: string, name: string): AttackNotes {
  const file = join(dir, 'sim_meta.json');
  if (!existsSync(file)) return {};
  const all = JSON.parse(readFileSync(file, 'utf8')) as Record<string, AttackNotes>;
  return all[name] ?? {};
}
