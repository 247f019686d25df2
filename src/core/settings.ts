/** Declares the settings that all nodes of a group share. In a cluster they are in the log, under these names. */
import type { ErasureMode } from './vocabulary.js';

export interface GroupSettings {
  readonly HALF_LIFE_DAYS: number;
  readonly BAN_HALF_LIFE_DAYS: number;
  readonly PRIOR_BAD_SHARE: number;
  readonly NEW_PEER_DAYS: number;
  readonly RETENTION_DAYS: number;
  readonly PEERS_MAX: number;
  readonly ERASURE_MODE: ErasureMode;
  readonly ERASURE_QUOTA_PER_DAY: number;
}

export type SettingName = keyof GroupSettings;
