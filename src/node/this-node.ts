/** Implements `GroupNode` for this process: it answers for the group's health until the group is recovered. */
import type { GroupApi, GroupHealth, GroupIdentity, GroupNode } from '../group/api.js';
import type { ClusterHealth } from '../group/cluster-api.js';
import { recoveringHealth } from '../group/group-health.js';

export class ThisNode implements GroupNode {
  #group: GroupApi | null = null;

  constructor(
    readonly identity: GroupIdentity,
    readonly cluster: ClusterHealth | null,
  ) {}

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
