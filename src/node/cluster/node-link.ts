/**
 * The requests between the nodes of a group: it sends them over the link, and answers those of other nodes with the
 * parts of this node. It decides nothing itself.
 */
import { type CommandCall, type CommandName, type CommandValues, execute } from '../../cluster/commands.js';
import type { LateSite } from '../../cluster/late-site.js';
import type { LinkClient } from '../../cluster/link-client.js';
import { LinkRefusedError, type LinkRequest } from '../../cluster/link-server.js';
import type { ClusterMember } from '../../cluster/member.js';
import type { ClusterOperator } from '../../cluster/operations.js';
import type { GroupApi } from '../../group/api.js';
import type { NodeView, WalSettings } from '../../group/ports/shared-log.js';
import { limits } from '../../limits.js';
import type { CopyDonor } from './cluster-copy.js';

export interface NodeLinkDeps {
  readonly nodeId: string;
  readonly link: LinkClient;
  readonly member: ClusterMember;
  readonly site: LateSite;
  readonly donor: CopyDonor;
  readonly operations: ClusterOperator;
  /** Returns the group; null while it is being recovered. */
  readonly group: () => GroupApi | null;
  /** Returns the other live nodes, including those that are joining. */
  readonly others: () => Promise<readonly NodeView[]>;
  /** Overwrites replaced records in this node's files. */
  readonly scrub: () => Promise<void>;
  /** Called if a request failed that concerns the operator. */
  readonly onFailure: (what: string, error: unknown) => void;
}

export class NodeLink {
  readonly #deps: NodeLinkDeps;
  /** The address of the leader that last failed to answer, so that it is reported once. */
  #silentLeader: string | null = null;

  constructor(deps: NodeLinkDeps) {
    this.#deps = deps;
  }

  /** Sends the command to the leader. Resolves to null if no other node leads; then nothing was done. */
  async ask<N extends CommandName>(call: CommandCall<N>): Promise<CommandValues[N] | null> {
    const { member, nodeId, link, site } = this.#deps;
    const { leader } = member;
    if (leader === null || leader.nodeId === nodeId) return null;
    const { url } = leader;
    member.forwarded += 1;
    const request = { url, method: 'POST', path: '/command', body: call, timeoutMs: limits.forwardMs } as const;
    const sent = link.call<{ readonly value: CommandValues[N] | null; readonly seq: number }>(request);
    const answer = await sent.catch((error: unknown) => this.#leaderFailed(url, error));
    this.#silentLeader = null;
    // The caller's next read on this node must include the change.
    if (answer.value !== null) await site.reached(answer.seq, limits.appliedWaitMs);
    return answer.value;
  }

  /** Callers are told `no_leader`; the cause, such as a wrong ADVERTISE_URL, is for the operator. */
  #leaderFailed(url: string, error: unknown): never {
    if (this.#silentLeader !== url) this.#deps.onFailure('a command to the leader', error);
    this.#silentLeader = url;
    throw error;
  }

  /** Resolves once the other serving nodes have applied the newest record of this node, or after a bounded time. */
  async appliedElsewhere(): Promise<void> {
    const { link, site, others } = this.#deps;
    const seq = site.appliedSeq;
    // A joining node does not serve callers yet.
    const nodes = (await others().catch(() => [])).filter(({ role }) => role !== 'joining');
    const timeoutMs = limits.appliedWaitMs;
    const path = `/applied?seq=${seq}`;
    await Promise.allSettled(nodes.map(({ url }) => link.call({ url, method: 'GET', path, timeoutMs })));
  }

  /** Answers another node. Resolves to undefined if the answer is already sent. */
  async answer({ method, path, query, body, response }: LinkRequest): Promise<object | undefined> {
    const { member, site, donor, operations, scrub } = this.#deps;
    const route = `${method} ${path.split('/').slice(0, 2).join('/')}`;
    switch (route) {
      case 'POST /command':
        return this.#command(JSON.parse(body.toString('utf8')) as CommandCall);
      case 'GET /applied':
        return { reached: await site.reached(Number(query.get('seq')), limits.appliedWaitMs) };
      case 'GET /node':
        return member.view();
      case 'POST /scrub': {
        if (member.role === 'joining') throw new Error('the node is joining and has not read the erasures yet');
        const { seq } = JSON.parse(body.toString('utf8')) as { readonly seq: number };
        if (!(await site.reached(seq, limits.scrubNodeMs / 2)))
          throw new Error(`the node has not applied record ${seq} in time`);
        await scrub();
        return {};
      }
      case 'POST /step-down':
        return { outcome: await operations.stepDown() };
      case 'POST /cluster-scrub':
        return { outcome: await operations.scrub(JSON.parse(body.toString('utf8')) as Partial<WalSettings>) };
      case 'POST /copy':
        return donor.ask();
      case 'GET /copy':
        await donor.send(path, Number(query.get('from') ?? 0), response);
        return undefined;
      default:
        throw new LinkRefusedError(`unknown request ${route}`);
    }
  }

  async #command(call: CommandCall): Promise<object> {
    const { member, site } = this.#deps;
    const group = this.#deps.group();
    if (!member.isLeader || group === null) return { value: null, seq: 0 };
    const decided = execute(group, call);
    if (decided === undefined) throw new LinkRefusedError(`unknown command ${String(call.name)}`);
    const value = await decided;
    return { value, seq: site.appliedSeq };
  }
}
