/** Declares why a text is no player id: a stable code, and a sentence that never contains the id. */

/** The sentence of each reason. The codes are stable; the sentences may be reworded. */
export const playerIdRefusals = {
  empty: 'the id is empty',
  too_long: 'the canonical id would be longer than 128 characters',
  invisible_character: 'the id contains a control character, an invisible character or a blank',
  placeholder: 'the text names no account, but a bot, the console, or an account that was not known yet',
  address: 'an IP address is not an account: many people share one, and one person has many',
  rounded_number: 'a spreadsheet rounded the number, so that the account is lost; export the column as text',
  hardware_id: 'a hardware id names a machine, not an account',
  battleye_guid: 'a BattlEye GUID cannot be turned back into an account; give the Steam id',
  client_digest: 'a digest of a game client names an installation, not an account',
  local_name: 'a name that one server knows is not an account',
  subject_hash: '64 hexadecimal digits are a subject hash or a hardware id, not an account id',
  vanity_url: 'a profile address with a chosen name can change hands; give the SteamID64',
  not_a_person: 'the id is that of a Steam group, a lobby or a game server, not of a person',
  other_universe: "the Steam id is not one of Steam's public universe",
  out_of_range: 'the number lies outside the ids that the platform gives to persons',
  minecraft_offline:
    'a UUID of version 3 is made of the name by a server in offline mode; give minecraft-offline:<server>:<uuid>',
  uuid_version: 'a Minecraft account has a UUID of version 4',
  server_missing: 'the form is minecraft-offline:<server>:<uuid>, with the name of the server that made the UUID',
  malformed: 'the text does not have a form of its kind',
  kind_needed: 'a bare number can be an id of several platforms; say its kind',
  other_kind: 'the id is of another kind than the one that was given',
  kind_not_accepted: 'the group does not use ids of this kind',
  unknown_form: 'the text does not have the form of a player id; a name is not an id',
} as const;

/** The stable code of a refused player id. */
export type PlayerIdRefusal = keyof typeof playerIdRefusals;

/** The result of reading a text as an id of one kind; null if it is in no form of that kind. */
export type Reading = { readonly id: string } | { readonly refusal: PlayerIdRefusal } | null;

export function refused(refusal: PlayerIdRefusal): Reading {
  return { refusal };
}
