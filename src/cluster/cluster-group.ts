/**
 * The group API of a node of a cluster. Reads use the memory of this node. The leader decides changes, here or on
 * another node.
 */

import type { DecideDispute } from '../core/commands.js';
import { subjectHex } from '../core/hashing/pseudonym.js';
import type { PeerRelation } from '../core/relations.js';
import type { KeyColumns } from '../core/tables/event-columns.js';
import type { DisputeStatus, PeerStatus } from '../core/vocabulary.js';
import type { Outcome, Refusal } from '../errors.js';
import type {
  AcceptedEvent,
  EventSubmission,
  GroupApi,
  NotOffered,
  OnProgress,
  PeerView,
  Registration,
  SimulationQuery,
} from '../group/api.js';
import type { ClusterOperations } from '../group/cluster-api.js';
import type { Holder } from '../group/holder.js';
import { logUnreachable } from '../group/refusals.js';
import { type CommandCall, type CommandName, type CommandValues, encodeEvents, execute } from './commands.js';
import { LinkError } from './link-client.js';

export interface ClusterSite {
  isLeader(): boolean;
  /** Sends the command to the leader. Resolves to null if no leader is known; then nothing was done. */
  ask<N extends CommandName>(call: CommandCall<N>): Promise<CommandValues[N] | null>;
  refresh(): Promise<boolean>;
  /** Returns the refusal for a change while no leader can be reached. */
  refusal(): Refusal;
  /** Resolves once the other nodes have applied the newest record of this node, or after a bounded time. */
  appliedElsewhere(): Promise<void>;
}

export class ClusterGroup implements GroupApi {
  readonly clusterOperations: ClusterOperations;
  readonly #local: GroupApi;
  readonly #site: ClusterSite;

  constructor(local: GroupApi, site: ClusterSite, operations: ClusterOperations) {
    this.clusterOperations = operations;
    this.#local = local;
    this.#site = site;
  }

  // Views

  get identity() {
    return this.#local.identity;
  }

  get isReady() {
    return this.#local.isReady;
  }

  get overloaded() {
    return this.#local.overloaded;
  }

  get verdicts() {
    return this.#local.verdicts;
  }

  refresh() {
    return this.#site.refresh();
  }

  health() {
    return this.#local.health();
  }

  admits(events: number, holder: Holder, notOffered: NotOffered) {
    return this.#local.admits(events, holder, notOffered);
  }

  hasRoom(events: number, holder: Holder) {
    return this.#local.hasRoom(events, holder);
  }

  noteRefusal() {
    this.#local.noteRefusal();
  }

  counts() {
    return this.#local.counts();
  }

  peerByKeyDigest(digestHex: string) {
    return this.#local.peerByKeyDigest(digestHex);
  }

  peerById(peerId: string) {
    return this.#local.peerById(peerId);
  }

  delayedEventCount(peer: PeerView) {
    return this.#local.delayedEventCount(peer);
  }

  peers(from: number, limit: number) {
    return this.#local.peers(from, limit);
  }

  trust(subject: Uint8Array) {
    return this.#local.trust(subject);
  }

  trusts(players: KeyColumns) {
    return this.#local.trusts(players);
  }

  explain(subject: Uint8Array) {
    return this.#local.explain(subject);
  }

  hasErasedSince(peer: PeerView, at: number) {
    return this.#local.hasErasedSince(peer, at);
  }

  sharedErasures(peer: PeerView) {
    return this.#local.sharedErasures(peer);
  }

  disputedFor(subject: string) {
    return this.#local.disputedFor(subject);
  }

  disputes(status?: DisputeStatus) {
    return this.#local.disputes(status);
  }

  origins() {
    return this.#local.origins();
  }

  allowedPlayers() {
    return this.#local.allowedPlayers();
  }

  allowedPlayer(subject: Uint8Array) {
    return this.#local.allowedPlayer(subject);
  }

  ownErasures(peer: PeerView, from: number, limit: number) {
    return this.#local.ownErasures(peer, from, limit);
  }

  // Asynchronous reads

  playerEvents(subject: Uint8Array, caller: PeerView | null, limit: number, from: readonly number[] | null) {
    return this.#local.playerEvents(subject, caller, limit, from);
  }

  audit(after: number, limit: number) {
    return this.#local.audit(after, limit);
  }

  status() {
    return this.#local.status();
  }

  signals(peer: PeerView) {
    return this.#local.signals(peer);
  }

  pendingErasures() {
    return this.#local.pendingErasures();
  }

  auditTail(count: number, before?: number) {
    return this.#local.auditTail(count, before);
  }

  publishedWeights(after: number) {
    return this.#local.publishedWeights(after);
  }

  verdictCounts() {
    return this.#local.verdictCounts();
  }

  simulate(query: SimulationQuery, onProgress?: OnProgress) {
    return this.#local.simulate(query, onProgress);
  }

  verify(onProgress?: OnProgress) {
    return this.#local.verify(onProgress);
  }

  // Changes

  submit(
    caller: PeerView | null,
    events: readonly EventSubmission[],
    holder?: Holder,
  ): Promise<Outcome<AcceptedEvent>[]> {
    if (this.#site.isLeader()) return this.#local.submit(caller, events, holder);
    const args = { caller: caller?.peerId ?? null, events: encodeEvents(events), holder: holder ?? null };
    return this.#decide({ name: 'submit', args }, (refusal) => events.map(() => refusal));
  }

  register(registration: Registration, by: string, byOperator = false) {
    return this.#onEveryNode({ name: 'register', args: { registration, by, byOperator } });
  }

  withdraw(caller: PeerView | null, eventId: string) {
    return this.#decide({ name: 'withdraw', args: { caller: caller?.peerId ?? null, eventId } }, unchanged);
  }

  erase(caller: PeerView | null, subject: Uint8Array) {
    const args = { caller: caller?.peerId ?? null, subject: subjectHex(subject) };
    return this.#decide({ name: 'erase', args }, unchanged);
  }

  setPeerStatus(peerId: string, status: PeerStatus, by: string) {
    return this.#onEveryNode({ name: 'setPeerStatus', args: { peerId, status, by } });
  }

  rotateKey(peerId: string, overlapMs: number, by: string) {
    return this.#onEveryNode({ name: 'rotateKey', args: { peerId, overlapMs, by } });
  }

  dispute(caller: PeerView | null, subject: Uint8Array, text: string, against?: string) {
    const target = against === undefined ? {} : { against };
    const args = { caller: caller?.peerId ?? null, subject: subjectHex(subject), text, ...target };
    return this.#decide({ name: 'dispute', args }, unchanged);
  }

  changeOrigin(change: 'add' | 'remove', name: string, by: string) {
    return this.#onEveryNode({ name: 'changeOrigin', args: { change, name, by } });
  }

  decideDispute(decision: DecideDispute['decision'], disputeId: string, peerIds: readonly string[], by: string) {
    return this.#onEveryNode({ name: 'decideDispute', args: { decision, disputeId, peerIds, by } });
  }

  /** The export is a record of the audit, so the leader decides it. */
  exportSubject(subject: Uint8Array, by: string) {
    return this.#decide({ name: 'exportSubject', args: { subject: subjectHex(subject), by } }, unchanged);
  }

  setPublicKey(peerId: string, publicKey: string | null, by: string) {
    return this.#onEveryNode({ name: 'setPublicKey', args: { peerId, publicKey, by } });
  }

  allowPlayer(subject: Uint8Array, until: number, note: string, by: string) {
    return this.#onEveryNode({ name: 'allowPlayer', args: { subject: subjectHex(subject), until, note, by } });
  }

  disallowPlayer(subject: Uint8Array, by: string) {
    return this.#onEveryNode({ name: 'disallowPlayer', args: { subject: subjectHex(subject), by } });
  }

  preTrust(change: 'add' | 'remove', peerId: string, by: string) {
    return this.#onEveryNode({ name: 'preTrust', args: { change, peerId, by } });
  }

  purgePeers(idleMs: number, by: string) {
    return this.#onEveryNode({ name: 'purgePeers', args: { idleMs, by } });
  }

  relatePeers(relation: PeerRelation['relation'], peerId: string, otherId: string, by: string) {
    return this.#onEveryNode({ name: 'relatePeers', args: { relation, peerId, otherId, by } });
  }

  confirmErasure(subject: Uint8Array, by: string) {
    return this.#decide({ name: 'confirmErasure', args: { subject: subjectHex(subject), by } }, unchanged);
  }

  /** Decides a change here if this node leads, otherwise on the leader. `here` replaces the decision here. */
  async #decide<N extends CommandName>(
    call: CommandCall<N>,
    refused: (refusal: Refusal) => CommandValues[N],
    here: () => Promise<CommandValues[N]> = () => execute(this.#local, call)!,
  ): Promise<CommandValues[N]> {
    if (this.#site.isLeader()) return here();
    try {
      const value = await this.#site.ask(call);
      if (value !== null) return value;
      // This node may have become the leader while the command waited.
      return this.#site.isLeader() ? await here() : refused(this.#site.refusal());
    } catch (error) {
      if (!(error instanceof LinkError)) throw error;
      // A command that was sent may have been executed. A repeated event is recognized by its id.
      return refused(error.isUnsent ? this.#site.refusal() : logUnreachable(true));
    }
  }

  /** Decides a change that must be in effect on every node before it is answered, such as a revoked key. */
  #onEveryNode<N extends Exclude<CommandName, 'submit'>>(call: CommandCall<N>): Promise<CommandValues[N]> {
    return this.#decide<N>(call, unchanged, async () => {
      const decided = await execute(this.#local, call)!;
      if (decided.ok) await this.#site.appliedElsewhere();
      return decided;
    });
  }
}

function unchanged(refusal: Refusal): Refusal {
  return refusal;
}
