/** Reads a player id in any spelling as its canonical form, which is hashed. Pure; a refusal never contains an id. */
import { type PlayerIdRefusal, playerIdRefusals, type Reading, refused } from './id-refusals.js';
import { isOpaque, kindOf, readAs, shapes } from './kinds.js';
import { neverAnId } from './never-ids.js';
import { steamForm, steamNumber } from './steam.js';
import { floodgateForm, looksLikeMinecraft, productUserId, readMinecraft, undashed } from './uuids.js';
import { xboxNumber, xboxOfHex } from './xbox.js';

/** Facts about an id besides its text. @public */
export interface NormalizeOptions {
  /** The kind of this id, such as `steam`. Without it, only spellings that no other platform uses are accepted. */
  readonly kind?: string | undefined;
  /** The kinds that the group uses; an id of another kind is refused. Default: any kind. */
  readonly kinds?: readonly string[] | undefined;
  /** The name of the server in offline mode that created a Minecraft UUID of version 3. */
  readonly server?: string | undefined;
}

export type PlayerIdResult =
  | { readonly ok: true; readonly id: string; readonly kind: string }
  | { readonly ok: false; readonly reason: PlayerIdRefusal; readonly text: string };

const lengthMax = 128;
/** No text longer than this has a canonical form, so longer texts are not searched. */
const inputMax = 512;
const unseen = /[\p{Cc}\p{Cf}\p{Surrogate}]/u;
const prefixed = /^([a-z][a-z0-9_-]{0,31}):(.*)$/i;
/** `Steam_7656…`, `EOS_0002…`, `7656…@steam`: the way in which several games write the platform. */
const before = /^(steam|steam64|steamid|steamid64|eos|xbl|xbox|xuid|psn|epic|discord)_(.+)$/i;
const behind = /^([^@]+)@(steam|eos|xbl|xbox|psn|epic|discord)$/i;
/** A Steam id that is shorter than this may have been truncated, and would be another account. */
const steamLength = 15;

interface Found {
  readonly kind: string;
  readonly reading: Reading;
}

/** Returns the canonical form of a player id, or the reason why it has none. */
export function readPlayerId(id: string, { kind, kinds, server }: NormalizeOptions = {}): PlayerIdResult {
  const text = withColon(id.trim(), kind);
  if (text === '') return refusal('empty');
  if (text.length > inputMax) return refusal('too_long');
  if (unseen.test(text)) return refusal('invisible_character');
  const found = kind === undefined ? detect(text, kinds, server) : readDeclared(text, kind, server);
  if (found.reading === null) return refusal('unknown_form');
  if ('refusal' in found.reading) return refusal(found.reading.refusal);
  if (kinds !== undefined && !kinds.includes(found.kind)) return refusal('kind_not_accepted');
  const canonical = found.reading.id;
  return [...canonical].length > lengthMax ? refusal('too_long') : { ok: true, id: canonical, kind: found.kind };
}

/** True if the text is the canonical form of an id of one of the kinds. */
export function isCanonicalPlayerId(text: string, kinds: readonly string[]): boolean {
  const result = readPlayerId(text, { kinds });
  return result.ok && result.id === text;
}

/**
 * Writes the platform before or behind an id as a kind and a colon. `STEAM_0:1:2` has a number there and no account,
 * and a name on a platform that the caller named may itself begin with one.
 */
function withColon(text: string, declared: string | undefined): string {
  if (text.length > inputMax || neverAnId(text) !== undefined) return text;
  const [, first, rest] = before.exec(text) ?? [];
  const [, start, last] = behind.exec(text) ?? [];
  const [name, account] = first === undefined ? [last, start] : [first, rest];
  if (name === undefined || account === undefined || account.includes(':')) return text;
  const kind = kindOf(name)!;
  const isName = isOpaque(kind) && !shapes.has(kind);
  if (declared !== undefined && (kindOf(declared) !== kind || isName)) return text;
  return kind === 'steam' && account.length < steamLength ? text : `${name}:${account}`;
}

function refusal(reason: PlayerIdRefusal): PlayerIdResult {
  return { ok: false, reason, text: playerIdRefusals[reason] };
}

/** Reads a text whose kind the caller knows; a prefix of the same kind is allowed. */
function readDeclared(text: string, name: string, server: string | undefined): Found {
  const kind = kindOf(name);
  if (kind === null) return { kind: name, reading: refused('malformed') };
  const never = neverAnId(text);
  if (never !== undefined) return { kind, reading: refused(never) };
  const [, prefix = '', rest = ''] = prefixed.exec(text) ?? [];
  if (kindOf(prefix) === kind) return { kind, reading: readRest(kind, rest, server) };
  if (kind === 'minecraft' && looksLikeMinecraft(text) && floodgateForm(text) === null) {
    return readMinecraftForm(text, server);
  }
  const reading = readAs(kind, text, server);
  const isOther = () => !isId(reading) && isId(detect(text, undefined, undefined).reading);
  const isForeign = isOpaque(kind) ? steamForm(text) !== null || prefix !== '' : isOther();
  return { kind, reading: isForeign ? refused('other_kind') : reading };
}

function isId(reading: Reading): boolean {
  return reading !== null && 'id' in reading;
}

function readRest(kind: string, rest: string, server: string | undefined): Reading {
  const never = neverAnId(rest);
  return never === undefined ? readAs(kind, rest, server) : refused(never);
}

/** Finds the kind of a text whose kind the caller does not know, by its prefix or its form alone. */
function detect(text: string, kinds: readonly string[] | undefined, server: string | undefined): Found {
  const never = neverAnId(text);
  if (never !== undefined) return { kind: '', reading: refused(never) };
  const steam = steamForm(text) ?? steamNumber(text);
  if (steam !== null) return { kind: 'steam', reading: steam };
  const [, prefix = '', rest = ''] = prefixed.exec(text) ?? [];
  const kind = kindOf(prefix);
  if (kind !== null) return { kind, reading: readRest(kind, rest, server) };
  const xbox = xboxNumber(text) ?? xboxOfHex(text) ?? floodgateForm(text);
  if (xbox !== null) return { kind: 'xbox', reading: xbox };
  const mayBe = (name: string) => kinds === undefined || kinds.includes(name);
  const isMinecraft = looksLikeMinecraft(text);
  // Digits that may belong to Minecraft or to Epic Online Services count as an id of the group's platform; if that does
  // not decide, as one of Epic Online Services, whose beginning is rarer.
  const isEos = productUserId.test(text) && (mayBe('eos') || !isMinecraft);
  if (isEos) return { kind: 'eos', reading: { id: text.toLowerCase() } };
  if (isMinecraft) return readMinecraftForm(text, server);
  if (undashed.test(text)) return { kind: '', reading: refused('battleye_guid') };
  return { kind: '', reading: /^\d+$/.test(text) ? refused('kind_needed') : null };
}

/** Reads a UUID; one of version 3 belongs to the named server, if the caller named one. */
function readMinecraftForm(text: string, server: string | undefined): Found {
  const reading = readMinecraft(text);
  const isOffline = reading !== null && 'refusal' in reading && reading.refusal === 'minecraft_offline';
  if (!isOffline || server === undefined) return { kind: 'minecraft', reading };
  return { kind: 'minecraft-offline', reading: readAs('minecraft-offline', text, server) };
}
