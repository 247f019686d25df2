/** Reads ids of Xbox accounts: every spelling of one account becomes its decimal XUID. */
import { type Reading, refused } from './id-refusals.js';

/** All XUIDs of persons have these 16 high bits before their number. */
const prefix = 0x0009n << 48n;
const decimal = /^[1-9]\d{15}$/;
const hex = /^(?:0x)?(?:000)?9[0-9a-f]{12}$/i;

function ofNumber(number: bigint): Reading {
  return number >> 48n === prefix >> 48n ? { id: String(number) } : null;
}

/** Reads a decimal XUID; null for any other number. */
export function xboxNumber(text: string): Reading {
  return decimal.test(text) ? ofNumber(BigInt(text)) : null;
}

/** Reads a XUID of 16 hexadecimal digits; null for any other digits. */
export function xboxOfHex(text: string): Reading {
  return /^0009[0-9a-f]{12}$/i.test(text) ? ofNumber(BigInt(`0x${text}`)) : null;
}

export function readXbox(text: string): Reading {
  const number = xboxNumber(text);
  if (number !== null) return number;
  if (hex.test(text)) return ofNumber(BigInt(`0x${text.replace(/^0x/i, '')}`));
  return refused(/^\d+$/.test(text) ? 'out_of_range' : 'malformed');
}
