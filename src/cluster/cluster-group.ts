/** The group API of a node of a cluster: reads use this node's memory, and the leader decides changes. */
import type { Outcome } from '../errors.js';
import type { GroupApi } from '../group/api.js';
import type { ClusterOperations } from '../group/cluster-api.js';
import { logUnreachable, noLeader } from '../group/refusals.js';
import {
  type ChangeArgs,
  type ChangeCall,
  type ChangeName,
  type Changes,
  type ChangeValue,
  changes,
  encodeCall,
  execute,
  refusalOf,
} from '../operations/changes.js';
import { LinkError } from './link-client.js';
import type { ClusterMember } from './member.js';

export interface ClusterSite {
  readonly member: Pick<ClusterMember, 'decides' | 'isUnreachable' | 'refresh'>;
  readonly link: {
    /** Sends the command to the leader. Resolves to null if no leader is known; then nothing was done. */
    ask<N extends ChangeName>(call: ChangeCall<N>): Promise<ChangeValue<N> | null>;
    /** Resolves once the other nodes have applied the newest record of this node, or after a bounded time. */
    appliedElsewhere(): Promise<void>;
  };
}

export function createClusterGroup(local: GroupApi, site: ClusterSite, clusterOperations: ClusterOperations): GroupApi {
  const decided = (Object.keys(changes) as ChangeName[]).map((name) => {
    return [name, (...args: ChangeArgs<typeof name>) => decide(local, site, name, args)] as const;
  });
  const other = { ...Object.fromEntries(decided), clusterOperations, refresh: () => site.member.refresh() };
  // The group is no copy but the prototype, because its getters answer anew each time.
  return Object.assign(Object.create(local) as GroupApi, other);
}

async function decide<N extends ChangeName>(
  local: GroupApi,
  site: ClusterSite,
  name: N,
  args: ChangeArgs<N>,
): Promise<ChangeValue<N>> {
  const { member, link } = site;
  if (member.decides) return inEffect(site, name, decideHere(local, name, args));
  const refusal = () => (member.isUnreachable ? logUnreachable() : noLeader());
  const call = encodeCall(name, args);
  try {
    const value = await link.ask(call);
    if (value !== null) return value;
    // This node may have become the leader while the command waited.
    if (member.decides) return await inEffect(site, name, execute(local, call)!);
    return refusalOf(name, args, refusal());
  } catch (error) {
    if (!(error instanceof LinkError)) throw error;
    // A command that was sent may have been executed. A repeated event is recognized by its id.
    return refusalOf(name, args, error.isUnsent ? refusal() : logUnreachable(true));
  }
}

function decideHere<N extends ChangeName>(local: Changes & GroupApi, name: N, args: ChangeArgs<N>) {
  const methods: Changes = local;
  // The core itself checks the caller of events. `execute` checks the caller of every other change.
  return name === 'submit' ? methods[name](...args) : execute(local, encodeCall(name, args))!;
}

/** Waits until a change that was decided here is in effect on every node, if its command requires that. */
async function inEffect<V>(site: ClusterSite, name: ChangeName, decided: Promise<V>): Promise<V> {
  const value = await decided;
  if ('isEverywhere' in changes[name] && (value as Outcome<unknown>).ok) await site.link.appliedElsewhere();
  return value;
}
