/** Reads the kinds of player ids of the group for a command, after it has verified that the group is the right one. */
import { saltCheckOf } from '../../client/ids/salt-check.js';
import { PeerError, wrongUsage } from '../peer-error.js';
import { NodeReader } from './node-reader.js';

/**
 * Returns the kinds that the group accepts; null if its ids are opaque. Throws `salt_mismatch` if the salt is another
 * group's, and `wrong_usage` if the group does not identify players by account ids.
 */
export async function groupKinds(url: string, groupSalt: string): Promise<readonly string[] | null> {
  const reader = new NodeReader(url);
  try {
    const { groupId, identityMode, saltCheck, playerIdKinds } = await reader.group();
    if (saltCheck !== null && saltCheck !== saltCheckOf(groupSalt)) {
      throw new PeerError('salt_mismatch', `the salt is not that of the group ${JSON.stringify(groupId)}`, 2);
    }
    if (identityMode === 'high-security') {
      throw wrongUsage('the group knows players by verified identity tokens, and a ban list contains no such tokens');
    }
    return playerIdKinds.length > 0 ? playerIdKinds : null;
  } finally {
    await reader.close();
  }
}
