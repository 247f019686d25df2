/** Reads ids of Steam accounts: every spelling of one account becomes its decimal SteamID64. */
import SteamID from 'steamid';
import { type Reading, refused } from './id-refusals.js';

const accountMax = 2 ** 32 - 1;

const steam2 = /^STEAM_(\d):(\d):(\d{1,20})$/i;
const steam3 = /^(?:\[([A-Za-z]):(\d):(\d{1,20})(?::(\d{1,20}))?\]|(U):(\d):(\d{1,20}))$/i;
const profile =
  /^(?:https?:\/\/)?(?:www\.)?steamcommunity\.com\/(?:profiles\/(\d{1,20}|\[U:\d:\d{1,20}\])|(id)\/[^/?#]+)(?:[/?#].*)?$/i;
/** Decimal ids of Steam of any type: universe 1 to 4 and a type leave at least 17 digits. */
const decimal64 = /^[1-9]\d{16,19}$/;
/** The form in which FiveM prints an account: the hexadecimal SteamID64. */
const hex64 = /^(?:0x)?0?1[0-9a-f]{14}$/i;
const accountNumber = /^[1-9]\d{0,9}$/;

function ofAccount(account: number): Reading {
  if (!Number.isSafeInteger(account) || account < 1 || account > accountMax) return refused('out_of_range');
  return { id: SteamID.fromIndividualAccountID(account).getSteamID64() };
}

function of64(number: bigint): Reading {
  if (number >= 1n << 64n) return refused('out_of_range');
  const steamId = new SteamID(number);
  if (steamId.isValidIndividual()) return { id: steamId.getSteamID64() };
  if (steamId.universe !== 1 && steamId.universe <= 5) return refused('other_universe');
  return refused(steamId.type !== 1 && steamId.isValid() ? 'not_a_person' : 'out_of_range');
}

/** Reads a spelling that no other platform uses; null for any other text. */
export function steamForm(text: string): Reading {
  const two = steam2.exec(text);
  if (two !== null) {
    const [, universe = '', bit = '', number = ''] = two;
    if (Number(bit) > 1) return refused('malformed');
    return Number(universe) > 1 ? refused('other_universe') : ofAccount(2 * Number(number) + Number(bit));
  }
  const three = steam3.exec(text);
  if (three !== null) {
    const type = three[1] ?? three[5] ?? '';
    if (type.toUpperCase() !== 'U') return refused('not_a_person');
    if ((three[2] ?? three[6]) !== '1') return refused('other_universe');
    if (three[4] !== undefined && three[4] !== '1') return refused('not_a_person');
    return ofAccount(Number(three[3] ?? three[7]));
  }
  const page = profile.exec(text);
  if (page === null) return null;
  return page[2] === undefined
    ? (steamForm(page[1]!) ?? steamNumber(page[1]!) ?? refused('malformed'))
    : refused('vanity_url');
}

/** Reads a decimal SteamID64 of a person; null for any other number. */
export function steamNumber(text: string): Reading {
  if (!decimal64.test(text)) return null;
  const reading = of64(BigInt(text));
  return reading !== null && 'id' in reading ? reading : null;
}

export function readSteam(text: string): Reading {
  const form = steamForm(text);
  if (form !== null) return form;
  if (decimal64.test(text)) return of64(BigInt(text));
  if (accountNumber.test(text)) return ofAccount(Number(text));
  if (hex64.test(text)) return of64(BigInt(`0x${text.replace(/^0x/i, '')}`));
  return /^\d+$/.test(text) ? refused('out_of_range') : refused('malformed');
}
