/** Converts player ids to their canonical form by the rules in `src/player-ids`; a refusal is a `TrustError`. */
import { type NormalizeOptions, readPlayerId } from '../../player-ids/player-id.js';
import { invalidArgument } from '../trust-error.js';
import { isSubjectHash } from './subject.js';

/**
 * Returns the canonical form of a player id: the text that is hashed, so that every spelling of an account is the same
 * player.
 *
 * | Kind | Canonical form | Also accepted |
 * | ---- | -------------- | ------------- |
 * | `steam` | decimal SteamID64 | `STEAM_0:1:N`, `STEAM_1:1:N`, `[U:1:N]`, `U:1:N`, `steam:<hex>`, the address of a profile; an account number if the kind is given |
 * | `minecraft` | UUID of version 4 in lower case with dashes | without dashes, in upper case |
 * | `minecraft-offline` | `minecraft-offline:<server>:<uuid>`, with a UUID of version 3 | the UUID alone if `server` is given |
 * | `xbox` | decimal XUID | 16 hexadecimal digits, `xbl:<XUID>`, a Floodgate UUID |
 * | `eos` | ProductUserId of 32 hexadecimal digits in lower case | in upper case |
 * | any other | `<kind>:<id>` with the kind in lower case | the id alone if the kind is given |
 *
 * The function is pure: it sends no request, and the same text always gives the same answer. Throws `invalid_argument`
 * with `details.reason`, a stable code, for anything that is no player id: bots, the console, accounts that are not
 * known yet, addresses, names, hardware ids, BattlEye GUIDs, numbers that a spreadsheet rounded.
 * `docs/player-id-vectors.json` holds test vectors for implementations in other languages.
 * @public
 */
export function normalizePlayerId(id: string, options: NormalizeOptions = {}): string {
  if (typeof id !== 'string') throw invalidArgument('a player id must be a string');
  const result = readPlayerId(id, options);
  if (result.ok) return result.id;
  throw invalidArgument(`this is not a player id: ${result.text}`, { reason: result.reason });
}

/** Leaves subject hashes and opaque ids as they are. Throws `invalid_argument` for an id of none of the kinds. */
export function normalizedFor(kinds: readonly string[] | null | undefined, id: string): string {
  if (kinds === null || kinds === undefined || typeof id !== 'string' || isSubjectHash(id)) return id;
  return normalizePlayerId(id, { kinds });
}
