/** Sends requests to the other nodes over the link, and passes their requests to the parts of this node. */
import { Readable } from 'node:stream';
import { type CommandAnswer, Forwarder, ForwardRoom } from '../../cluster/forwarding.js';
import { type LinkClient, LinkError } from '../../cluster/link-client.js';
import { LinkRefusedError, type LinkRequest } from '../../cluster/link-server.js';
import type { LocalGroup } from '../../cluster/local-group.js';
import type { ClusterMember } from '../../cluster/member.js';
import type { ClusterOperator } from '../../cluster/operations.js';
import { messageOf } from '../../errors.js';
import type { GroupApi } from '../../group/api.js';
import type { Timers } from '../../group/ports/clock.js';
import type { LeaderView, NodeView, WalSettings } from '../../group/ports/shared-log.js';
import { limits } from '../../limits.js';
import { type ChangeCall, type ChangeName, type ChangeValue, execute, peerIdOf } from '../../operations/changes.js';
import type { CopyDonor } from './copy-donor.js';

export interface NodeLinkDeps {
  readonly nodeId: string;
  readonly link: Pick<LinkClient, 'call' | 'isClosed' | 'lines'>;
  readonly member: ClusterMember;
  readonly site: Pick<LocalGroup, 'appliedSeq' | 'reached'>;
  readonly donor: CopyDonor;
  readonly operations: ClusterOperator;
  readonly group: () => GroupApi | null;
  readonly others: () => Promise<readonly NodeView[]>;
  readonly scrub: () => Promise<void>;
  readonly timers: Timers;
  /** Called if a request failed that concerns the operator. */
  readonly onFailure: (what: string, error: unknown) => void;
  /** Called if a command of another node failed. */
  readonly onRequestFailed: (error: unknown) => void;
}

/** `waitMs`: how long the sender waits for this node to lead. */
type SentCall = ChangeCall & { readonly waitMs?: number };

export class NodeLink {
  readonly #room: ForwardRoom;
  /** The address of the leader that last failed to answer, so that it is reported once. */
  #silentLeader: string | null = null;
  /** The commands to the present leader. */
  #forwarder: Forwarder | undefined;
  #waiting = 0;

  constructor(private readonly deps: NodeLinkDeps) {
    this.#room = new ForwardRoom(deps.timers);
  }

  /**
   * Sends the command to the leader. If no leader takes it, waits a bounded time for one that does. Resolves to null if
   * no other node leads, or if this one does; then nothing was done. Rejects with `LinkError` if no leader could be
   * reached, or if the leader got the command and did not answer.
   */
  async ask<N extends ChangeName>(call: ChangeCall<N>): Promise<ChangeValue<N> | null> {
    const { member, nodeId, timers } = this.deps;
    const endAt = timers.elapsed() + limits.leaderWaitMs;
    member.forwarded += 1;
    for (;;) {
      const leader = member.leader?.nodeId === nodeId ? null : member.leader;
      const value = leader === null ? null : await this.#forward(leader, call, endAt - timers.elapsed());
      if (value !== null && !(value instanceof LinkError)) return value;
      if (member.decides) return null;
      if (await this.#mayAskAgain(leader, value, endAt - timers.elapsed())) continue;
      if (value !== null) throw value;
      return null;
    }
  }

  async #mayAskAgain(leader: LeaderView | null, answer: LinkError | null, leftMs: number): Promise<boolean> {
    const { member, link } = this.deps;
    if (leftMs <= 0 || !member.canLearn || link.isClosed || this.#waiting >= limits.leaderWaitingMax) return false;
    // A node that has just resigned answers null. A node that could not be reached may be in order nevertheless.
    const retryMs = answer === null ? limits.leaderLookMs : limits.leaderRetryMs;
    const waitMs = leader === null ? leftMs : Math.min(retryMs, leftMs);
    this.#waiting += 1;
    const isServed = await member.nextLeader(leader?.fence ?? null, waitMs);
    this.#waiting -= 1;
    return isServed || (leader !== null && member.canLearn);
  }

  /** Resolves to null if the node does not lead, and to an error if it did not get the command. */
  async #forward<N extends ChangeName>(
    { url }: LeaderView,
    call: ChangeCall<N>,
    waitMs: number,
  ): Promise<ChangeValue<N> | null | LinkError> {
    this.#forwarder ??= new Forwarder(this.deps.link, url, this.deps.timers);
    // The command stays with this leader, even if another one leads once it has room.
    const forwarder = this.#forwarder;
    const send = () => forwarder.send({ ...call, waitMs });
    let answer: CommandAnswer;
    try {
      answer = await this.#room.run(peerIdOf(call) ?? call.name, Math.max(limits.leaderLookMs, waitMs), send);
    } catch (error) {
      // Reported once for a silent leader: the cause, such as a wrong ADVERTISE_URL, is for the operator.
      if (this.#silentLeader !== url) this.deps.onFailure('a command to the leader', error);
      this.#silentLeader = url;
      if (error instanceof LinkError && error.isUnsent) return error;
      throw error;
    }
    this.#silentLeader = null;
    // The caller's next read on this node must include the change.
    if (answer.value !== null) await this.deps.site.reached(answer.seq, limits.appliedWaitMs);
    return answer.value as ChangeValue<N> | null;
  }

  /** Ends commands to the previous leader: at once if its node has disappeared, otherwise after a short time. */
  leaderChanged(leader: LeaderView | null, isEarlierAlive: boolean): void {
    const earlier = this.#forwarder;
    if (leader === null || earlier === undefined) return;
    this.#forwarder = undefined;
    this.deps.timers.later(() => earlier.abort(), isEarlierAlive ? limits.forwardGraceMs : 0);
  }

  /** Resolves once the other serving nodes have applied the newest record of this node, or after a bounded time. */
  async appliedElsewhere(): Promise<void> {
    const { link, site, others } = this.deps;
    const seq = site.appliedSeq;
    // A joining node does not serve callers yet.
    const nodes = (await others().catch(() => [])).filter(({ role }) => role !== 'joining');
    const timeoutMs = limits.appliedWaitMs;
    const path = `/applied?seq=${seq}`;
    await Promise.allSettled(nodes.map(({ url }) => link.call({ url, method: 'GET', path, timeoutMs })));
  }

  async answer({ method, path, query, body, sent }: LinkRequest): Promise<object> {
    const { member, site, donor, operations, scrub } = this.deps;
    const number = (name: string) => Number(query.get(name));
    const route = `${method} ${path}`;
    switch (route) {
      case 'POST /commands':
        return this.#commands(body.toString('utf8').split('\n'));
      case 'GET /applied':
        return { reached: await site.reached(number('seq'), limits.appliedWaitMs) };
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
      case 'GET /copy':
        return donor.offer();
      case 'GET /copy-log':
        return donor.logPiece(number('from'), number('batches'), sent);
      case 'GET /copy-snapshot':
        return donor.snapshotPiece(number('seq'), number('from'), sent);
      default:
        throw new LinkRefusedError(`unknown request ${route}`);
    }
  }

  /** A line of its own answers each of several commands once it is decided: a slow one does not delay the others. */
  async #commands(lines: readonly string[]): Promise<object> {
    const calls = lines.map((line) => JSON.parse(line) as SentCall);
    if (calls.length === 1) return this.#command(calls[0]!);
    const answers = new Readable({ read: () => undefined });
    const answered = calls.map(async (call, at) => {
      const line = this.#command(call).then((answer) => JSON.stringify({ at, ...answer }));
      const failure = (error: unknown): string => {
        if (!(error instanceof LinkRefusedError)) this.deps.onRequestFailed(error);
        return JSON.stringify({ at, seq: 0, error: messageOf(error) });
      };
      answers.push(`${await line.catch(failure)}\n`);
    });
    void Promise.all(answered).then(() => answers.push(null));
    return answers;
  }

  async #command({ waitMs = 0, ...call }: SentCall): Promise<CommandAnswer> {
    const { member, site } = this.deps;
    const group = this.deps.group();
    if (group === null || !(member.decides || (await member.takenOver(Math.min(waitMs, limits.leaderWaitMs))))) {
      return { value: null, seq: 0 };
    }
    const decided = execute(group, call);
    if (decided === undefined) throw new LinkRefusedError(`unknown command ${String(call.name)}`);
    const value = await decided;
    return { value, seq: site.appliedSeq };
  }
}
