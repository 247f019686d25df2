/**
 * Groups whose peers report, detect, ban and lift over months, and the files of such groups: `NAME.events.csv.gz`,
 * `NAME.truth.csv.gz`, and `life_meta.json` beside them.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type EventTypeName, eventTypeNames } from '../../src/core/evidence/event-types.js';
import { csvRows, loadTruth, Names, type TrustSet } from './trust-set.js';

export interface LifeEvent {
  /** Index into `peers`. */
  readonly peer: number;
  /** Index into `players`. */
  readonly player: number;
  readonly type: EventTypeName;
  /** 0 to 1. */
  readonly severity: number;
  /** Days since the group began, 0 to `days`. */
  readonly day: number;
}

/** Players are those with events. Roles serve only to judge the scores. */
export interface LifeGroup extends Pick<TrustSet, 'name' | 'peers' | 'players' | 'truth' | 'adversaries' | 'targets'> {
  /** In the order of arrival. */
  readonly events: readonly LifeEvent[];
  /** Age of the group: the last day is today. */
  readonly days: number;
}

interface LifeNotes {
  readonly profile: string;
  readonly attack: string;
  readonly peers: number;
  readonly days: number;
  readonly adversaries: readonly string[];
  readonly targets: readonly string[];
}

const notesFile = 'life_meta.json';

export function isLifeFolder(dir: string): boolean {
  return existsSync(join(dir, notesFile));
}

/** Returns the name of each group in a folder with its kind, such as `bans_liar2`. */
export function listLifeSets(dir: string): { readonly name: string; readonly kind: string }[] {
  return Object.entries(notesOf(dir)).map(([name, { profile, attack }]) => ({
    name,
    kind: attack === '' ? profile : `${profile}_${attack}`,
  }));
}

/** Loads one group. Throws an error that names file and line if a row is malformed. */
export function loadLifeSet(dir: string, name: string): LifeGroup {
  const notes = notesOf(dir)[name];
  if (notes === undefined) throw new Error(`${join(dir, notesFile)} does not describe ${name}`);
  const peers = new Names(Array.from({ length: notes.peers }, (_, j) => `p${j}`));
  const players = new Names();
  const events: LifeEvent[] = [];
  for (const { fields, fail } of csvRows(join(dir, `${name}.events.csv.gz`), 5)) {
    const [peer = '', player = '', typeText = '', severityText = '', dayText = ''] = fields;
    const type = eventTypeNames.find((known) => known === typeText);
    const [severity, day] = [severityText, dayText].map((text) => (text === '' ? Number.NaN : Number(text)));
    const index = peers.find(peer) ?? fail(`peer ${peer}`);
    if (!(severity! >= 0 && severity! <= 1)) fail(`severity ${severityText}`);
    if (!(day! >= 0 && day! <= notes.days)) fail(`day ${dayText}`);
    events.push({
      peer: index,
      player: players.indexOf(player),
      type: type ?? fail(`event_type ${typeText}`),
      severity: severity!,
      day: day!,
    });
  }
  return {
    name,
    peers: peers.list,
    players: players.list,
    events,
    truth: loadTruth(join(dir, `${name}.truth.csv.gz`), 3, players),
    adversaries: peers.findAll(notes.adversaries),
    targets: players.findAll(notes.targets),
    days: notes.days,
  };
}

function notesOf(dir: string): Readonly<Record<string, LifeNotes>> {
  return JSON.parse(readFileSync(join(dir, notesFile), 'utf8')) as Record<string, LifeNotes>;
}
