/** Reads ids of 32 hexadecimal digits: Minecraft, Epic Online Services, and Xbox as a UUID of Floodgate. */
import { type Reading, refused } from './id-refusals.js';
import { xboxOfHex } from './xbox.js';

const dashed = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
export const undashed = /^[0-9a-f]{32}$/i;
const floodgate = /^0{16}(?=[0-9a-f]{16}$)/;
/** The first digit of the fourth group shows that a UUID's version is meaningful. */
const variant = /^.{16}[89ab]/;
/** TShock, for example, writes `uuid:` before a digest of the client's identifier. */
const digest = /^[0-9a-f]{65,}$/i;
const serverName = /^[a-z0-9](?:[a-z0-9._-]{0,62}[a-z0-9])?$/i;

/** Every ProductUserId starts with these digits; a BattlEye GUID does so only by accident. */
export const productUserId = /^0002[0-9a-f]{28}$/i;

function digitsOf(text: string): string | null {
  return dashed.test(text) || undashed.test(text) ? text.replaceAll('-', '').toLowerCase() : null;
}

function withDashes(digits: string): string {
  return digits.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

/** Returns the XUID in a Floodgate UUID; null if the text is no such UUID. */
export function floodgateForm(text: string): Reading {
  const digits = digitsOf(text);
  if (digits === null || !floodgate.test(digits)) return null;
  return xboxOfHex(digits.slice(16));
}

export function readMinecraft(text: string): Reading {
  const digits = digitsOf(text);
  if (digits === null) return refused(digest.test(text) ? 'client_digest' : 'malformed');
  if (floodgate.test(digits)) return refused(floodgateForm(text) === null ? 'uuid_version' : 'other_kind');
  if (digits[12] === '4') return { id: withDashes(digits) };
  return refused(digits[12] === '3' ? 'minecraft_offline' : 'uuid_version');
}

/** Reads `<server>:<uuid>`. A server in offline mode derives the UUID from the name: it means a player there alone. */
export function readMinecraftOffline(text: string, server?: string): Reading {
  const cut = text.indexOf(':');
  const name = cut < 0 ? server : text.slice(0, cut);
  if (name === undefined || name === '') return refused('server_missing');
  const digits = digitsOf(text.slice(cut + 1));
  if (digits === null || !serverName.test(name)) return refused('malformed');
  if (digits[12] !== '3') return refused('uuid_version');
  return { id: `minecraft-offline:${name.toLowerCase()}:${withDashes(digits)}` };
}

export function readEos(text: string): Reading {
  return undashed.test(text) ? { id: text.toLowerCase() } : refused('malformed');
}

/** True if the text is a UUID with dashes, or one without them whose version and variant are those of Minecraft's. */
export function looksLikeMinecraft(text: string): boolean {
  if (dashed.test(text)) return true;
  return undashed.test(text) && (text[12] === '4' || text[12] === '3') && variant.test(text.toLowerCase());
}
