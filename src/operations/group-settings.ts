/** The settings that all nodes of a group share, and their change in a cluster. */
import type { GroupSettings, SettingName } from '../core/settings.js';
import { erasureModes } from '../core/vocabulary.js';
import { granted, refused } from '../errors.js';
import { limits } from '../limits.js';
import { shape } from '../validation/schema.js';
import { oneOf, type Parsed, problem, value, wholeNumber } from '../validation/setting-text.js';
import { by, operation, typed } from './operation.js';

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

export const settingParsers: { readonly [N in SettingName]: (text: string) => Parsed<GroupSettings[N]> } = {
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

export const settingOperations = {
  'group-set': operation({
    request: shape({ name: { enum: settingNames }, value: { type: 'string', maxLength: limits.peerNameLength }, by }, [
      'by',
    ]),
    async answer({ name, value: text }, { group, by: actor }) {
      if (group.clusterOperations === null) {
        return refused('invalid_parameter', {
          text: `this node serves its group alone (CLUSTER=none): set ${name} and start it again`,
        });
      }
      const parsed = settingParsers[name](text);
      if (!parsed.ok) return refused('invalid_parameter', { text: `${name} ${parsed.problem}` });
      const outcome = await group.changeSetting(name, parsed.value, actor);
      return outcome.ok ? granted({ name, value: parsed.value }) : outcome;
    },
    ptf: {
      group: 'group',
      command: 'set',
      text: 'change a setting on all nodes of a cluster; then set the variable of this name on each machine',
      given: { name: { flags: '<name>', text: '', choices: settingNames }, value: typed('<value>') },
      examples: ['group set RETENTION_DAYS 365 --by alice'],
      show: ({ name, value: set }) => [`${name} is ${set} on all nodes; set the variable on each machine, too`],
    },
  }),
};
