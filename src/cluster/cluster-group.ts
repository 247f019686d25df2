/** The group API of a node of a cluster: reads use this node's memory, and the leader decides changes. */
import type { Outcome, Refusal } from '../errors.js';
import type { GroupApi } from '../group/api.js';
import type { ClusterOperations } from '../group/cluster-api.js';
import { logUnreachable } from '../group/refusals.js';
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

export interface ClusterSite {
  /** True if this node leads and is not about to hand over. */
  decides(): boolean;
  /** Sends the command to the leader. Resolves to null if no leader is known; then nothing was done. */
  ask<N extends ChangeName>(call: ChangeCall<N>): Promise<ChangeValue<N> | null>;
  refresh(): Promise<boolean>;
  /** Returns the refusal for a change while no leader can be reached. */
  refusal(): Refusal;
  /** Resolves once the other nodes have applied the newest record of this node, or after a bounded time. */
  appliedElsewhere(): Promise<void>;
}

export function createClusterGroup(local: GroupApi, site: ClusterSite, clusterOperations: ClusterOperations): GroupApi {
  const decided = (Object.keys(changes) as ChangeName[]).map((name) => {
    return [name, (...args: ChangeArgs<typeof name>) => decide(local, site, name, args)] as const;
  });
  const other = { ...Object.fromEntries(decided), clusterOperations, refresh: () => site.refresh() };
  // The group is no copy but the prototype, because its getters answer anew each time.
  return Object.assign(Object.create(local) as GroupApi, other);
}

async function decide<N extends ChangeName>(
  local: GroupApi,
  site: ClusterSite,
  name: N,
  args: ChangeArgs<N>,
): Promise<ChangeValue<N>> {
  if (site.decides()) return inEffect(site, name, decideHere(local, name, args));
  const call = encodeCall(name, args);
  try {
    const value = await site.ask(call);
    if (value !== null) return value;
    // This node may have become the leader while the command waited.
    if (site.decides()) return await inEffect(site, name, execute(local, call)!);
    return refusalOf(name, args, site.refusal());
  } catch (error) {
    if (!(error instanceof LinkError)) throw error;
    // A command that was sent may have been executed. A repeated event is recognized by its id.
    return refusalOf(name, args, error.isUnsent ? site.refusal() : logUnreachable(true));
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
  if ('isEverywhere' in changes[name] && (value as Outcome<unknown>).ok) await site.appliedElsewhere();
  return value;
}
