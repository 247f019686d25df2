/** Writes native ban lists of canonical player ids: each format accepts the kinds of ids that its game knows. */
import SteamID from 'steamid';
import type { Player } from '../formats/player-of.js';

export interface NativeList {
  readonly name: string;
  /** The kinds of ids that the format accepts; null for all. */
  readonly kinds: readonly string[] | null;
  /** Returns the whole list. `at` is in ms since 1970. */
  readonly write: (players: readonly Player[], at: number) => string;
}

/** The reason that admins and players see. It names no person. */
const reason = 'untrusted in the group of servers';

const lines = (texts: readonly string[]) => texts.map((text) => `${text}\n`).join('');

export const nativeLists: readonly NativeList[] = [
  {
    name: 'squad',
    kinds: ['steam', 'eos'],
    write: (players) => lines(players.map(({ id }) => `${id}:0 //${reason}`)),
  },
  {
    name: 'source',
    kinds: ['steam'],
    write: (players) => lines(players.map(({ id }) => `banid 0 ${new SteamID(id).getSteam2RenderedID(true)}`)),
  },
  {
    name: 'rust',
    kinds: ['steam'],
    write: (players) => lines(players.map(({ id }) => `banid ${id} "" "${reason}" -1`)),
  },
  {
    name: 'minecraft',
    kinds: ['minecraft'],
    write: (players, at) => {
      // As Minecraft writes times: `2026-11-20 12:00:00 +0000`.
      const created = `${new Date(at).toISOString().slice(0, 19).replace('T', ' ')} +0000`;
      const entry = { name: '', created, source: 'ptf-peer', expires: 'forever', reason };
      const entries = players.map(({ id }) => ({ uuid: id, ...entry }));
      return `${JSON.stringify(entries, null, 2)}\n`;
    },
  },
  {
    name: 'ids',
    kinds: null,
    write: (players) => lines(players.map(({ id }) => id)),
  },
];
