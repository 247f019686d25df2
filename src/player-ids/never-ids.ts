/** Recognises texts that name no account, such as placeholders and addresses: many players would share the subject. */
import { isIP } from 'node:net';
import type { PlayerIdRefusal } from './id-refusals.js';

const placeholders: ReadonlySet<string> = new Set(
  `# #expired #expired# #offline# #undefined# (console) (none) (null) (unknown) * - admin anonymous bot console gotv hltv
  invalid loopback n/a na nan nil none null rcon replay server sourcetv steam_id_bot steam_id_lan steam_id_pending system
  undefined unknown valve_id_lan valve_id_loopback valve_id_pending`.split(/\s+/),
);

const stopText = /^STEAM_ID_STOP/i;
/** `7,65612E+16`: the way in which spreadsheets show a number of 17 digits. */
const rounded = /^[+-]?(?:\d+E[+-]\d+|\d+[.,]\d+E[+-]?\d+)$/i;
const decimalPoint = /^[+-]?\d+[.,]\d+$/;
const hash = /^[0-9a-f]{64}$/i;
const hardware = /^(?:\d+:[0-9a-f]{32,}|(?:[0-9a-f]{2}[:-]){5}[0-9a-f]{2})$/i;
const withPort = /^(?:\[([^\]]+)\]|([^:]+))(?::\d{1,5})?$/;
const range = /^([0-9a-f.:]+)\/\d{1,3}$/i;
/** A wildcard or a prefix of an address: `203.0.113.*`. */
const addressPattern = /^(?:\d{1,3}\.){1,3}(?:\*|\d{1,3})(?:\.\*)*$/;

/** Prefixes before a colon that are no kinds of accounts, with the reason why. */
export const kindsOfNoAccount: ReadonlyMap<string, PlayerIdRefusal> = new Map([
  ...['ip', 'ipv4', 'ipv6', 'address', 'endpoint'].map((kind) => [kind, 'address'] as const),
  ...['hwid', 'hardware', 'hardwareid', 'mac', 'token', 'tokens', 'disk'].map((kind) => [kind, 'hardware_id'] as const),
  ...['beguid', 'be_guid', 'be-guid', 'battleye'].map((kind) => [kind, 'battleye_guid'] as const),
  ...['acc', 'username'].map((kind) => [kind, 'local_name'] as const),
  ...'name nick player http https mailto file ban tempban permban unban mute tempmute gag silence kick warn warning'
    .split(' ')
    .map((kind) => [kind, 'unknown_form'] as const),
]);

function isAddress(text: string): boolean {
  const [, bracketed, plain] = withPort.exec(text) ?? [];
  const network = range.exec(text)?.[1] ?? '';
  return [text, bracketed ?? '', plain ?? '', network].some((part) => isIP(part) > 0) || addressPattern.test(text);
}

/** Returns the reason why the text is no id, whatever its kind; undefined if it may be one. */
export function neverAnId(text: string): PlayerIdRefusal | undefined {
  if (placeholders.has(text.toLowerCase()) || stopText.test(text)) return 'placeholder';
  if (rounded.test(text) || (decimalPoint.test(text) && !addressPattern.test(text))) return 'rounded_number';
  if (hash.test(text)) return 'subject_hash';
  if (hardware.test(text)) return 'hardware_id';
  return isAddress(text) ? 'address' : undefined;
}
