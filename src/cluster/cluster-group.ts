/**
 * The group as a node of a cluster offers it: reads come from its own memory, and what changes the group is decided by
 * the leader, here or on another node.
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
  OnProgress,
  PeerView,
  Registration,
  SimulationQuery,
} from '../group/api.js';
import type { ClusterOperations } from '../group/cluster-api.js';
import type { Holder } from '../group/holder.js';
import { logUnreachable } from '../group/refusals.js';
import { type CommandCall, type CommandName, type CommandValues, encodeEvents } from './commands.js';
import { LinkError } from './link-client.js';

export interface ClusterSite {
  /** Whether this node decides. */
  isLeader(): boolean;
  /** Asks the leader. Resolves to null where there is none that can be asked, so that nothing was done. */
  ask<N extends CommandName>(call: CommandCall<N>): Promise<CommandValues[N] | null>;
  refresh(): Promise<boolean>;
  /** Why nobody can be asked to decide. */
  refusal(): Refusal;
  /** Resolves once the other nodes have applied all that is decided here, or after a bounded time. */
  carried(): Promise<void>;
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

  admits(events: number, holder: Holder) {
    return this.#local.admits(events, holder);
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

  // Reads that wait

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
    return this.#ask({ name: 'submit', args }, (refusal) => events.map(() => refusal));
  }

  register(registration: Registration, by: string, byOperator = false) {
    if (this.#site.isLeader()) return this.#carried(this.#local.register(registration, by, byOperator));
    return this.#ask({ name: 'register', args: { registration, by, byOperator } }, same);
  }

  withdraw(caller: PeerView | null, eventId: string) {
    if (this.#site.isLeader()) return this.#local.withdraw(caller, eventId);
    return this.#ask({ name: 'withdraw', args: { caller: caller?.peerId ?? null, eventId } }, same);
  }

  erase(caller: PeerView | null, subject: Uint8Array) {
    if (this.#site.isLeader()) return this.#local.erase(caller, subject);
    const args = { caller: caller?.peerId ?? null, subject: subjectHex(subject) };
    return this.#ask({ name: 'erase', args }, same);
  }

  setPeerStatus(peerId: string, status: PeerStatus, by: string) {
    if (this.#site.isLeader()) return this.#carried(this.#local.setPeerStatus(peerId, status, by));
    return this.#ask({ name: 'setPeerStatus', args: { peerId, status, by } }, same);
  }

  rotateKey(peerId: string, overlapMs: number, by: string) {
    if (this.#site.isLeader()) return this.#carried(this.#local.rotateKey(peerId, overlapMs, by));
    return this.#ask({ name: 'rotateKey', args: { peerId, overlapMs, by } }, same);
  }

  dispute(caller: PeerView | null, subject: Uint8Array, text: string, against?: string) {
    if (this.#site.isLeader()) return this.#local.dispute(caller, subject, text, against);
    const named = against === undefined ? {} : { against };
    const args = { caller: caller?.peerId ?? null, subject: subjectHex(subject), text, ...named };
    return this.#ask({ name: 'dispute', args }, same);
  }

  changeOrigin(change: 'add' | 'remove', name: string, by: string) {
    if (this.#site.isLeader()) return this.#carried(this.#local.changeOrigin(change, name, by));
    return this.#ask({ name: 'changeOrigin', args: { change, name, by } }, same);
  }

  decideDispute(decision: DecideDispute['decision'], disputeId: string, peerIds: readonly string[], by: string) {
    if (this.#site.isLeader()) return this.#carried(this.#local.decideDispute(decision, disputeId, peerIds, by));
    return this.#ask({ name: 'decideDispute', args: { decision, disputeId, peerIds, by } }, same);
  }

  /** Audited, and so asked of the leader. */
  exportSubject(subject: Uint8Array, by: string) {
    if (this.#site.isLeader()) return this.#local.exportSubject(subject, by);
    return this.#ask({ name: 'exportSubject', args: { subject: subjectHex(subject), by } }, same);
  }

  setPublicKey(peerId: string, publicKey: string | null, by: string) {
    if (this.#site.isLeader()) return this.#carried(this.#local.setPublicKey(peerId, publicKey, by));
    return this.#ask({ name: 'setPublicKey', args: { peerId, publicKey, by } }, same);
  }

  allowPlayer(subject: Uint8Array, until: number, note: string, by: string) {
    if (this.#site.isLeader()) return this.#carried(this.#local.allowPlayer(subject, until, note, by));
    return this.#ask({ name: 'allowPlayer', args: { subject: subjectHex(subject), until, note, by } }, same);
  }

  disallowPlayer(subject: Uint8Array, by: string) {
    if (this.#site.isLeader()) return this.#carried(this.#local.disallowPlayer(subject, by));
    return this.#ask({ name: 'disallowPlayer', args: { subject: subjectHex(subject), by } }, same);
  }

  preTrust(change: 'add' | 'remove', peerId: string, by: string) {
    if (this.#site.isLeader()) return this.#carried(this.#local.preTrust(change, peerId, by));
    return this.#ask({ name: 'preTrust', args: { change, peerId, by } }, same);
  }

  purgePeers(idleMs: number, by: string) {
    if (this.#site.isLeader()) return this.#carried(this.#local.purgePeers(idleMs, by));
    return this.#ask({ name: 'purgePeers', args: { idleMs, by } }, same);
  }

  relatePeers(relation: PeerRelation['relation'], peerId: string, otherId: string, by: string) {
    if (this.#site.isLeader()) return this.#carried(this.#local.relatePeers(relation, peerId, otherId, by));
    return this.#ask({ name: 'relatePeers', args: { relation, peerId, otherId, by } }, same);
  }

  confirmErasure(subject: Uint8Array, by: string) {
    if (this.#site.isLeader()) return this.#local.confirmErasure(subject, by);
    return this.#ask({ name: 'confirmErasure', args: { subject: subjectHex(subject), by } }, same);
  }

  async #ask<N extends CommandName>(
    call: CommandCall<N>,
    refused: (refusal: Refusal) => CommandValues[N],
  ): Promise<CommandValues[N]> {
    try {
      return (await this.#site.ask(call)) ?? refused(this.#site.refusal());
    } catch (error) {
      if (!(error instanceof LinkError)) throw error;
      // Where it was sent, it may have been done: a repeat of an event finds out by its id.
      return refused(error.isUnsent ? this.#site.refusal() : logUnreachable(true));
    }
  }

  /** Of what must hold on every node at once, such as the end of a key. */
  async #carried<T>(outcome: Promise<Outcome<T>>): Promise<Outcome<T>> {
    const decided = await outcome;
    if (decided.ok) await this.#site.carried();
    return decided;
  }
}

function same(refusal: Refusal): Refusal {
  return refusal;
}
