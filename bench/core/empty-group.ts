/** Makes a group with the peers of a population and no events, as the start of the core measurements. */
import type { GroupFormed } from '../../src/core/records/records.js';
import { GroupState } from '../../src/core/state.js';
import { fixedTimestamp, gameId } from '../load/requests.js';
import { credentials, type Population } from './population.js';

export const benchSalt = 'a salt of the bench';
/** Time of every record of such a group, ms since 1970. */
export const benchTime = Date.parse(fixedTimestamp);

const audit = { action: 'bench', actor: 'bench', target: 'bench', prev_hash: '', hash: '' };

export function emptyGroup(population: Population): GroupState {
  const formed: GroupFormed = {
    type: 'group_formed',
    group_id: 'bench',
    identity_mode: 'privacy-first',
    environment: 'dev',
    salt_digest: '',
    node_secret: '07'.repeat(32),
    half_life_days: 30,
    epoch: benchTime,
    audit,
  };
  const state = new GroupState(formed, Buffer.from(benchSalt));
  state.apply(formed, benchTime);
  for (const [peer, { peerId }] of credentials(population).entries()) {
    const about = { peer_id: peerId, peer_name: peerId, game_ids: [gameId], contact_email: null, key_digest: peerId };
    state.apply({ type: 'peer_registered', peer, ...about, audit }, benchTime);
  }
  return state;
}
