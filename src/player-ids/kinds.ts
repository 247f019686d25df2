/** Knows the kinds of player ids: their names, how each is read, and its canonical form. */
import { type Reading, refused } from './id-refusals.js';
import { kindsOfNoAccount } from './never-ids.js';
import { readSteam } from './steam.js';
import { floodgateForm, readEos, readMinecraft, readMinecraftOffline } from './uuids.js';
import { readXbox } from './xbox.js';

interface Kind {
  /** The canonical form, for people. */
  readonly form: string;
  /** Reads a text that is declared to be of this kind. */
  readonly read: (text: string, server?: string) => Reading;
}

const platforms: ReadonlyMap<string, Kind> = new Map(
  Object.entries<Kind>({
    steam: { form: 'the decimal SteamID64 of 17 digits', read: readSteam },
    minecraft: { form: 'the UUID of version 4 in lower case with dashes', read: readMinecraft },
    'minecraft-offline': {
      form: 'minecraft-offline:<server>:<uuid>, with the UUID of version 3 in lower case with dashes',
      read: readMinecraftOffline,
    },
    xbox: { form: 'the decimal XUID of 16 digits', read: (text) => floodgateForm(text) ?? readXbox(text) },
    eos: { form: 'the ProductUserId of 32 hexadecimal digits in lower case', read: readEos },
  }),
);

const aliases: ReadonlyMap<string, string> = new Map(
  Object.entries({ steam: 'steamid steamid64 steam64', xbox: 'xbl xuid', minecraft: 'uuid', eos: 'eosid' }).flatMap(
    ([kind, names]) => names.split(' ').map((name) => [name, kind] as const),
  ),
);

const kindName = /^[a-z][a-z0-9_-]{0,31}$/;
const blank = /\s/;

/** Kinds whose ids are digits or hexadecimal digits, so that case does not distinguish accounts. */
const license = /^[0-9a-f]{40}$/;
export const shapes: ReadonlyMap<string, RegExp> = new Map(
  Object.entries({ discord: /^[1-9]\d{5,19}$/, fivem: /^[1-9]\d{0,19}$/, license, license2: license }),
);

/** Returns the present name of a kind, given a name in any case; null if no kind can have the name. */
export function kindOf(name: string): string | null {
  const lower = name.toLowerCase();
  return kindName.test(lower) ? (aliases.get(lower) ?? lower) : null;
}

/** True if `PLAYER_ID_KINDS` may list the name: it is no alias, and it names a kind of accounts. */
export function isKind(name: unknown): boolean {
  return typeof name === 'string' && kindOf(name) === name && !kindsOfNoAccount.has(name);
}

export const kindsExpected =
  'must list kinds such as steam, minecraft, minecraft-offline, xbox, eos or discord, in lower case';

export function canonicalForm(kind: string): string {
  return platforms.get(kind)?.form ?? `${kind}:<id>, with the kind in lower case`;
}

/** True if ids of the kind have their kind as a prefix, since their own form does not show it. */
export function isOpaque(kind: string): boolean {
  return !platforms.has(kind);
}

export function readAs(kind: string, text: string, server?: string): Reading {
  const fault = kindsOfNoAccount.get(kind);
  if (fault !== undefined) return refused(fault);
  const platform = platforms.get(kind);
  if (platform !== undefined) return platform.read(text, server);
  if (text === '' || blank.test(text)) return refused('malformed');
  const shape = shapes.get(kind);
  if (shape === undefined) return { id: `${kind}:${text}` };
  const lower = text.toLowerCase();
  return shape.test(lower) ? { id: `${kind}:${lower}` } : refused('malformed');
}
