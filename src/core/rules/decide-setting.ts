/** Decides changes of the settings that the nodes of a cluster share. */
import { granted } from '../../errors.js';
import type { ChangeSetting } from '../commands.js';
import { audited, type Decision } from '../decision.js';
import type { GroupSettings } from '../settings.js';
import type { GroupState } from '../state.js';
import { decideConfiguredPreTrust } from './decide-peer.js';
import { decideHalfLife } from './decide-scale.js';

/** Returns the settings in the log. Those that no node of a cluster has set yet are absent. */
export function loggedSettings(state: GroupState): Partial<GroupSettings> {
  const { settings, halfLifeDays, measureScale, preTrustConfigured: peers } = state;
  const halfLives = { HALF_LIFE_DAYS: halfLifeDays, BAN_HALF_LIFE_DAYS: measureScale.halfLifeDays };
  return { ...settings, ...halfLives, ...(peers === null ? {} : { PRE_TRUSTED_PEERS: peers }) };
}

/**
 * Codes: dependency_unavailable (a half-life, while the clock is behind); unknown_peer, peer_not_active (pre-trusted
 * peers).
 */
export function decideSetting(state: GroupState, { name, value, by }: ChangeSetting, now: number): Decision<null> {
  if (name === 'PRE_TRUSTED_PEERS') return decideConfiguredPreTrust(state, String(value), now, by);
  if (name === 'HALF_LIFE_DAYS') return decideHalfLife(state, 'claims', Number(value), now, by);
  if (name === 'BAN_HALF_LIFE_DAYS') return decideHalfLife(state, 'measures', Number(value), now, by);
  if (state.settings[name] === value) return { records: [], outcome: granted(null) };
  const audit = audited(state, now, { action: 'group_setting_changed', actor: by, target: `${name} ${value}` });
  return { records: [{ type: 'group_setting_changed', name, value, audit }], outcome: granted(null) };
}
