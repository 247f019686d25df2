/** Reads the facts of the group for a command, after it has verified that the group is the right one. */
import { saltCheckOf } from '../../client/ids/salt-check.js';
import { PeerError, wrongUsage } from '../peer-error.js';
import { type GroupFacts, NodeReader } from './node-reader.js';

/** Throws `salt_mismatch` if the salt is another group's. */
export async function verifiedGroup(url: string, salt: string): Promise<GroupFacts> {
  const reader = new NodeReader(url);
  try {
    const group = await reader.group();
    const fault = saltFault(group, salt);
    if (fault === null) return group;
    throw new PeerError('salt_mismatch', fault, 2);
  } finally {
    await reader.close();
  }
}

/** Says how the salt differs from the group's; null if it does not, or the node publishes no salt check. */
export function saltFault({ groupId, saltCheck }: GroupFacts, salt: string): string | null {
  const own = saltCheckOf(salt);
  if (saltCheck === null || saltCheck === own) return null;
  return `the salt is not that of the group ${JSON.stringify(groupId)}: its salt_check is ${saltCheck}, that of the salt given is ${own}`;
}

/** The kinds that the group accepts; null if its ids are opaque. Throws `wrong_usage` if it knows no account ids. */
export async function groupKinds(url: string, salt: string): Promise<readonly string[] | null> {
  const { identityMode, playerIdKinds } = await verifiedGroup(url, salt);
  if (identityMode === 'high-security') {
    throw wrongUsage('the group knows players by verified identity tokens, and a ban list contains no such tokens');
  }
  return playerIdKinds.length > 0 ? playerIdKinds : null;
}
