/** The settings that all nodes of a group share, and their change in a cluster. */
import { settingNames, settingParsers } from '../core/settings.js';
import { granted, refused } from '../errors.js';
import { limits } from '../limits.js';
import { shape } from '../validation/schema.js';
import { by, operation, typed } from './operation.js';

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
