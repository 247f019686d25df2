/** The client's way to the canonical form of a player id. */
import { readPlayerId } from '../../player-ids/player-id.js';
import { TrustError } from '../trust-error.js';

/**
 * The canonical form of a player id: the text that is hashed, so that every spelling of one account is one player.
 *
 * | Kind | Canonical form | Also read |
 * | ---- | -------------- | --------- |
 * | `steam` | decimal SteamID64 | `STEAM_0:1:N`, `STEAM_1:1:N`, `[U:1:N]`, `U:1:N`, `steam:<hex>`, a profile's address; an account number where the kind is given |
 * | `minecraft` | UUID of version 4 in lower case with dashes | without dashes, in upper case |
 * | `minecraft-offline` | `minecraft-offline:<server>:<uuid>`, with a UUID of version 3 | the UUID alone where `server` is given |
 * | `xbox` | decimal XUID | 16 hexadecimal digits, `xbl:<XUID>`, a Floodgate UUID |
 * | `eos` | ProductUserId of 32 hexadecimal digits in lower case | in upper case |
 * | any other | `<kind>:<id>` with the kind in lower case | the id alone where the kind is given |
 *
 * Pure: it asks nobody, and the same text gives the same answer. Throws `invalid_argument` with `details.reason`, a
 * stable code, for what is no id: bots, the console, accounts that are not known yet, addresses, names, hardware ids,
 * BattlEye GUIDs, numbers that a spreadsheet rounded. `docs/player-id-vectors.json` holds test vectors for
 * implementations in other languages.
 * @public
 */
export function normalizePlayerId(id: string, options: NormalizeOptions = {}): string {
  if (typeof id !== 'string') throw new TrustError('invalid_argument', 'a player id must be a string');
  const result = readPlayerId(id, options);
  if (result.ok) return result.id;
  throw new TrustError('invalid_argument', `this is no player id: ${result.text}`, {
    details: { reason: result.reason },
  });
}

/**
 * What is known about an id besides its text.
 * @public
 */
export interface NormalizeOptions {
  /** The kind of this id, such as `steam`. Without it only forms are read that no other platform writes. */
  readonly kind?: string | undefined;
  /** The kinds that the group uses; an id of another kind is refused. Any kind where it is left out. */
  readonly kinds?: readonly string[] | undefined;
  /** The name of the server in offline mode that made a Minecraft UUID of version 3. */
  readonly server?: string | undefined;
}
