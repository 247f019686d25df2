/** The kinds of player ids of the group that a command works for, once it is clear that it is the right group. */
import { saltCheckOf } from '../../client/ids/salt-check.js';
import { PeerError, wrongUsage } from '../peer-error.js';
import { NodeReader } from './node-reader.js';

/**
 * The kinds that the group takes; null where its ids are opaque. Throws `salt_mismatch` where the salt is another
 * group's, and `wrong_usage` where the group knows players by something else than account ids.
 */
export async function groupKinds(url: string, groupSalt: string): Promise<readonly string[] | null> {
  const reader = new NodeReader(url);
  try {
    const { groupId, identityMode, saltCheck, playerIdKinds } = await reader.group();
    if (saltCheck !== null && saltCheck !== saltCheckOf(groupSalt)) {
      throw new PeerError('salt_mismatch', `the salt is not that of the group ${JSON.stringify(groupId)}`, 2);
    }
    if (identityMode === 'high-security') {
      throw wrongUsage('the group knows players by verified identity tokens, which no list of a game holds');
    }
    return playerIdKinds.length > 0 ? playerIdKinds : null;
  } finally {
    await reader.close();
  }
}
