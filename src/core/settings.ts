/** Declares the settings that all nodes share, under their names in the log of a cluster, and parses their texts. */
import { limits } from '../limits.js';
import { type ErasureMode, erasureModes } from './vocabulary.js';

export interface GroupSettings {
  /** Ids with commas between them, each once. */
  readonly PRE_TRUSTED_PEERS: string;
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

export type Parsed<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly problem: string };

export function value<T>(of: T): Parsed<T> {
  return { ok: true, value: of };
}

export function problem(text: string): { readonly ok: false; readonly problem: string } {
  return { ok: false, problem: text };
}

export function wholeNumber(min: number, max: number): (text: string) => Parsed<number> {
  return (text) => {
    const number = Number(text);
    if (/^\d+$/.test(text) && number >= min && number <= max) return value(number);
    return problem(`must be a whole number from ${min} to ${max}`);
  };
}

export function oneOf<T extends string>(choices: readonly T[]): (text: string) => Parsed<T> {
  return (text) => {
    const found = choices.find((choice) => choice === text);
    return found === undefined ? problem(`must be one of ${choices.join(', ')}`) : value(found);
  };
}

function parseHalfLife(text: string): Parsed<number> {
  const parsed = wholeNumber(0, limits.halfLifeDaysMax)(text);
  return parsed.ok ? parsed : problem(`must be 0 (no decay) or a whole number from 1 to ${limits.halfLifeDaysMax}`);
}

function parseBadShare(text: string): Parsed<number> {
  const [least, most] = [limits.priorBadShareMin, limits.priorBadShareMax];
  const share = /^(0?\.\d+|0)$/.test(text) ? Number(text) : Number.NaN;
  return share >= least && share <= most
    ? value(share)
    : problem(`must be a number from ${least} to ${most}, such as 0.04`);
}

function parsePeerIds(text: string): Parsed<string> {
  const ids = [...new Set(text.split(',').map((id) => id.trim().toLowerCase()))].filter((id) => id !== '');
  if (ids.length === 0) return problem('names no peer');
  if (ids.length > limits.preTrustedMax) return problem(`must name at most ${limits.preTrustedMax} peers`);
  const odd = ids.find((id) => [...id].length > limits.peerIdLength || /[\p{Cc}\s]/u.test(id));
  return odd === undefined ? value(ids.join(',')) : problem('contains a part that is not a peer id');
}

export const settingParsers: { readonly [N in SettingName]: (text: string) => Parsed<GroupSettings[N]> } = {
  PRE_TRUSTED_PEERS: parsePeerIds,
  HALF_LIFE_DAYS: parseHalfLife,
  BAN_HALF_LIFE_DAYS: parseHalfLife,
  PRIOR_BAD_SHARE: parseBadShare,
  NEW_PEER_DAYS: wholeNumber(0, limits.newPeerDaysMax),
  RETENTION_DAYS: wholeNumber(0, limits.retentionDaysMax),
  PEERS_MAX: wholeNumber(1, limits.peersMaxCeiling),
  ERASURE_MODE: oneOf(erasureModes),
  ERASURE_QUOTA_PER_DAY: wholeNumber(0, Number.MAX_SAFE_INTEGER),
};
export const settingNames = Object.keys(settingParsers) as SettingName[];
