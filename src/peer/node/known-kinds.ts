/** Keeps the kinds of ids that the node states on disk, so that ids can also be converted while it is down. */
import { join } from 'node:path';
import { isSubjectHash, normalizePlayerId, TrustError } from '../../client/entry.js';
import { isRecord, jsonIn, saltCheckOf } from '../../client/for-peer.js';
import type { PlayerIdRefusal } from '../../player-ids/id-refusals.js';
import { readPlayerId } from '../../player-ids/player-id.js';
import type { PeerConfig } from '../config/peer-config.js';
import { readSmallFile, replaceSmallFile } from '../config/peer-file.js';
import { type PeerError, wrongUsage } from '../peer-error.js';
import { type GroupFacts, NodeReader } from './node-reader.js';

/** Reasons why a text names no account anywhere; for another reason it may be an id of the group's own. */
const idsOfNobody: ReadonlySet<PlayerIdRefusal> = new Set(['placeholder', 'address', 'rounded_number']);

export class KnownKinds {
  /** True once the node has stated the kinds to this process. */
  isFresh = false;

  private constructor(
    private readonly path: string,
    private readonly config: Pick<PeerConfig, 'url' | 'groupSalt'>,
    /** Empty if ids are opaque; null if the group's node was never reached. */
    public kinds: readonly string[] | null,
    /** True if the group knows players by identity tokens, each of which has a single spelling. */
    public isOfTokens: boolean,
  ) {}

  static async open(config: PeerConfig): Promise<KnownKinds> {
    const path = join(config.stateDir, 'group.json');
    const value = jsonIn((await readSmallFile(path)) ?? '');
    const kinds = kindsIn(value, config);
    return new KnownKinds(path, config, kinds, kinds !== null && isRecord(value) && value.tokens === true);
  }

  /** Asks the node. Rejects with a `TrustError` if it does not answer, or if it is that of another group. */
  async learn(reader: NodeReader): Promise<void> {
    const { url, groupSalt } = this.config;
    const { playerIdKinds: kinds, isOfTokens: tokens } = await ownGroup(reader, groupSalt);
    const isNew = JSON.stringify([kinds, tokens]) !== JSON.stringify([this.kinds, this.isOfTokens]);
    this.kinds = kinds;
    this.isOfTokens = tokens;
    this.isFresh = true;
    const stated = { url, salt_check: saltCheckOf(groupSalt), kinds, tokens };
    if (isNew) await replaceSmallFile(this.path, `${JSON.stringify(stated)}\n`);
  }

  /**
   * Returns the canonical form of an id. In a group with opaque ids, the form is the one that an import of a list uses,
   * so that a banned account is recognised when it joins; an id of no known form, or an identity token, is returned as
   * it is. Throws `invalid_argument` for a text that is no id of the group's kinds, or that names no account.
   */
  canonical(id: string): string {
    if (isSubjectHash(id) || this.isOfTokens) return id;
    const kinds = this.kinds ?? [];
    if (kinds.length > 0) return normalizePlayerId(id, { kinds });
    const found = readPlayerId(id);
    if (found.ok) return found.id;
    return idsOfNobody.has(found.reason) ? normalizePlayerId(id) : id;
  }
}

/** Null if they were stated to a process with another salt: under a wrong one, reports would name nobody. */
function kindsIn(value: unknown, { url, groupSalt }: Pick<PeerConfig, 'url' | 'groupSalt'>): readonly string[] | null {
  if (!isRecord(value) || value.url !== url || value.salt_check !== saltCheckOf(groupSalt)) return null;
  return Array.isArray(value.kinds) && value.kinds.every((kind) => typeof kind === 'string') ? value.kinds : null;
}

/** Rejects with `salt_mismatch` if the salt is another group's. */
export async function verifiedGroup(url: string, salt: string): Promise<GroupFacts> {
  const reader = new NodeReader(url);
  return ownGroup(reader, salt).finally(() => reader.close());
}

/** The node of another group states the kinds of that group. */
async function ownGroup(reader: NodeReader, salt: string): Promise<GroupFacts> {
  const group = await reader.group();
  const fault = saltFault(group, salt);
  if (fault === null) return group;
  throw new TrustError('salt_mismatch', fault);
}

/** Says how the salt differs from the group's; null if it does not, or the node publishes no salt check. */
export function saltFault({ groupId, saltCheck }: GroupFacts, salt: string): string | null {
  const own = saltCheckOf(salt);
  if (saltCheck === null || saltCheck === own) return null;
  return `the salt is not that of the group ${JSON.stringify(groupId)}: its salt_check is ${saltCheck}, that of the salt given is ${own}`;
}

/** The kinds that the group accepts; null if its ids are opaque. Throws `wrong_usage` if it knows no account ids. */
export async function groupKinds(url: string, salt: string): Promise<readonly string[] | null> {
  const { isOfTokens, playerIdKinds } = await verifiedGroup(url, salt);
  if (isOfTokens) throw listOfAccounts();
  return playerIdKinds.length > 0 ? playerIdKinds : null;
}

export function listOfAccounts(): PeerError {
  return wrongUsage('the group knows players by verified identity tokens, and a ban list contains no such tokens');
}
