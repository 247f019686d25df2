/**
 * Implements `GroupNode` for this process. While the group is being recovered, it answers for the health of the group;
 * afterwards it provides the recovered group.
 */
import type { GroupApi, GroupHealth, GroupIdentity, GroupNode } from '../group/api.js';
import type { ClusterHealth } from '../group/cluster-api.js';
import { recoveringHealth } from '../group/group-health.js';

export class ThisNode implements GroupNode {
  /** Null while the group is being recovered. */
  #group: GroupApi | null = null;

  constructor(
    readonly identity: GroupIdentity,
    readonly cluster: ClusterHealth | null,
  ) {}

  /** The group is recovered: callers are served from it once it is open. */
  recovered(group: GroupApi): void {
    this.#group = group;
  }

  get group(): GroupApi {
    if (this.#group === null) throw new Error('node: the group was asked before it is recovered');
    return this.#group;
  }

  get isReady(): boolean {
    return this.#group?.isReady === true;
  }

  health(): GroupHealth {
    return this.#group?.health() ?? recoveringHealth;
  }
}
