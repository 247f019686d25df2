/** Forms a group in an empty data folder by its first record, and compares a folder's group with the configured one. */
import { hash } from 'node:crypto';
import { auditPart, auditStart } from '../../core/records/audit.js';
import { BatchWriter, chainStart, NONCE_BYTES } from '../../core/records/batch.js';
import type { GroupFormed } from '../../core/records/records.js';
import { SCORING_VERSION } from '../../core/rules/decide-setting.js';
import { GroupState } from '../../core/state.js';
import { limits } from '../../limits.js';
import type { GroupIdentity } from '../api.js';
import type { Clock, RandomSource } from '../ports/clock.js';
import type { LogWriter } from '../ports/storage.js';
import { Follower } from './recovery.js';

function saltDigest(salt: Uint8Array): string {
  return hash('sha256', Buffer.concat([Buffer.from('peer-trust-federation salt\0'), salt]), 'hex');
}

export interface Formation {
  readonly identity: GroupIdentity;
  readonly halfLifeDays: number;
  readonly banHalfLifeDays: number;
  readonly salt: Uint8Array;
}

export async function formGroup(
  { identity, halfLifeDays, banHalfLifeDays, salt }: Formation,
  writer: LogWriter,
  clock: Clock,
  random: RandomSource,
): Promise<Follower> {
  const now = clock.now();
  const fact = { action: 'group_formed', actor: 'configuration', target: identity.groupId };
  const formed: GroupFormed = {
    type: 'group_formed',
    group_id: identity.groupId,
    identity_mode: identity.identityMode,
    environment: identity.environment,
    salt_digest: saltDigest(salt),
    node_secret: Buffer.from(random.bytes(limits.keyBytes)).toString('hex'),
    half_life_days: halfLifeDays,
    ban_half_life_days: banHalfLifeDays,
    epoch: now,
    scoring: SCORING_VERSION,
    ...(identity.playerIdKinds === undefined ? {} : { player_id_kinds: identity.playerIdKinds }),
    audit: auditPart(auditStart, 1, now, fact),
  };
  const batchWriter = new BatchWriter();
  batchWriter.add(formed);
  const batch = batchWriter.seal(1, now, random.bytes(NONCE_BYTES), chainStart);
  await writer.append({ firstSeq: 1, bytes: batch.bytes }, []);
  await writer.stored();
  const state = new GroupState(formed, salt);
  state.apply(formed, now);
  return new Follower(state, batch.chain);
}

const kindsText = (kinds: readonly string[] | undefined): string => kinds?.join(',') ?? 'unset';

export function formationProblems(
  { identity, salt }: Omit<Formation, 'halfLifeDays' | 'banHalfLifeDays'>,
  formed: GroupFormed,
): string[] {
  const problems: string[] = [];
  const differs = (variable: string, was: string, is: string) => {
    if (was === is) return;
    problems.push(`${variable} is ${is}, but ${was} in the group of this data folder: keep that, or change DATA_DIR`);
  };
  differs('GROUP_ID', formed.group_id, identity.groupId);
  differs('IDENTITY_MODE', formed.identity_mode, identity.identityMode);
  differs('ENVIRONMENT', formed.environment, identity.environment);
  // Their order counts too: a person with several ids is known by the first kind that the group uses.
  differs('PLAYER_ID_KINDS', kindsText(formed.player_id_kinds), kindsText(identity.playerIdKinds));
  if (formed.salt_digest !== saltDigest(salt))
    problems.push('GROUP_SALT is not the salt that this data folder was formed with');
  return problems;
}
