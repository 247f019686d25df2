/** Synchronous reads of a group from memory: health, counts, peers and scores. */

import { reportersOf } from '../core/rules/decide-dispute.js';
import { isAllowed, readTrust } from '../core/scoring/allowed.js';
import { explanationOf, type TrustExplanation, type TrustView } from '../core/scoring/score.js';
import type { KeyColumns } from '../core/tables/event-columns.js';
import type { Peer } from '../core/tables/peers.js';
import type { GroupLoop } from './actor/loop.js';
import type {
  GroupCounts,
  GroupHealth,
  GroupIdentity,
  GroupViews,
  OwnErasures,
  PeerView,
  WeightsStatus,
} from './api.js';
import { MinuteAsOf } from './as-of.js';
import type { ClusterHealth } from './cluster-api.js';
import type { VerdictFeed } from './feed/change-feed.js';
import type { Holder } from './holder.js';
import type { Clock } from './ports/clock.js';

const nobody: readonly number[] = [];
const closed = { ready: false, writable: false } as const;

export abstract class GroupReads implements GroupViews {
  readonly identity: GroupIdentity;
  readonly #clock: Clock;
  readonly #asOf: MinuteAsOf;
  /** Null while recovering. */
  protected loop: GroupLoop | null = null;
  protected feed: VerdictFeed | null = null;
  /** True if commands from outside are admitted. */
  protected ready = false;
  /** Set before anything is admitted; null if this node serves its group alone. */
  cluster: ClusterHealth | null = null;

  constructor(identity: GroupIdentity, clock: Clock) {
    this.identity = identity;
    this.#clock = clock;
    this.#asOf = new MinuteAsOf(clock);
  }

  protected get running(): GroupLoop {
    if (this.loop === null) throw new Error('group: asked before recovery ended');
    return this.loop;
  }

  get verdicts(): VerdictFeed {
    if (this.feed === null) throw new Error('group: asked before recovery ended');
    return this.feed;
  }

  health(): GroupHealth {
    const loop = this.loop;
    if (loop === null)
      return { ...closed, reason: 'recovering', lastSeq: 0, weights: { basedOnSeq: 0, computedAt: null } };
    const reached = { lastSeq: loop.actor.durableSeq, weights: weightsStatus(loop) };
    if (loop.failed) return { ...closed, reason: 'log_failed', ...reached };
    if (!this.isReady) return { ...closed, reason: loop.draining ? 'draining' : 'recovering', ...reached };
    if (this.cluster?.isStale === true) return { ...closed, reason: 'stale', ...reached };
    if (loop.clockGuard.clockAhead) return { ready: true, writable: false, reason: 'clock_ahead', ...reached };
    if (loop.disk.low) return { ready: true, writable: false, reason: 'disk_low', ...reached };
    if (loop.stalled) return { ready: true, writable: false, reason: 'log_unreachable', ...reached };
    return { ready: true, writable: true, ...reached };
  }

  async refresh(): Promise<boolean> {
    return true;
  }

  get isReady(): boolean {
    return this.ready && this.loop !== null && !this.loop.failed;
  }

  admits(events: number, holder: Holder): boolean {
    return this.running.admits(events, holder);
  }

  hasRoom(events: number, holder: Holder): boolean {
    return this.running.hasRoom(events, holder);
  }

  get overloaded(): boolean {
    return this.running.overloaded;
  }

  noteRefusal(): void {
    this.running.noteRefusal();
  }

  counts(): GroupCounts {
    const { peers, subjects, eventCount } = this.running.state;
    return { peers: peers.size, players: subjects.size, events: eventCount };
  }

  peerByKeyDigest(digestHex: string): PeerView | undefined {
    return this.#view(this.running.state.peers.byKey(digestHex, this.#clock.now()));
  }

  peerById(peerId: string): PeerView | undefined {
    return this.#view(this.running.state.peers.byId(peerId));
  }

  delayedEventCount({ index }: PeerView): number {
    const { hourlyCounts, peers } = this.running.state;
    return hourlyCounts.asOf(index, peers.at(index).eventCount, this.#clock.now());
  }

  peers(from: number, limit: number): PeerView[] {
    return this.running.state.peers.page(from, limit).map((peer) => this.viewOf(peer));
  }

  trust(subject: Uint8Array): TrustView | undefined {
    const { state } = this.running;
    const row = state.subjects.find(subject);
    return row < 0 ? undefined : readTrust(state, row, this.#asOf.of(state));
  }

  trusts(players: KeyColumns): (TrustView | undefined)[] {
    const { state } = this.running;
    const asOf = this.#asOf.of(state);
    state.subjects.findAll(players);
    const trusts = new Array<TrustView | undefined>(players.count);
    for (let i = 0; i < players.count; i++) {
      const row = players.rows[i]!;
      trusts[i] = row < 0 ? undefined : readTrust(state, row, asOf);
    }
    return trusts;
  }

  disputedFor(subject: string): readonly number[] {
    const { state } = this.running;
    if (state.disputes.of(subject).length === 0) return nobody;
    return reportersOf(state, subject).filter((peer) => state.disputes.concern(subject, peer));
  }

  explain(subject: Uint8Array): TrustExplanation | undefined {
    const { state } = this.running;
    const row = state.subjects.find(subject);
    if (row < 0) return undefined;
    const asOf = this.#asOf.of(state);
    const explanation = explanationOf(state, row, asOf);
    return isAllowed(state, row, asOf) ? { ...explanation, allowed: true } : explanation;
  }

  ownErasures({ index }: PeerView, from: number, limit: number): OwnErasures {
    const { erasedEvents, times } = this.running.state;
    const total = erasedEvents.countOf(index);
    const events = erasedEvents.of(index, from, limit).map(({ seq, erasedSeq }) => ({
      receivedAt: times.receivedAt(seq),
      erasedAt: times.receivedAt(erasedSeq),
    }));
    const end = from + events.length;
    return { total, events, next: end < total ? end : null };
  }

  hasErasedSince({ index }: PeerView, at: number): boolean {
    const newest = this.running.state.erasuresBy.get(index)?.at(-1);
    return newest !== undefined && newest >= at;
  }

  /** The time to which reads decay evidence, in ms since 1970. */
  protected get readAt(): number {
    return this.#asOf.of(this.running.state).at;
  }

  #view(peer: Peer | undefined): PeerView | undefined {
    return peer === undefined ? undefined : this.viewOf(peer);
  }

  protected viewOf(peer: Peer): PeerView {
    const { state } = this.running;
    const { index, peerId, peerName, gameIds, status, registeredAt, publicKey = null, eventCount } = peer;
    const { tau, a, b, weight } = state.peerWeights;
    const preTrusted = state.preTrusted.includes(index);
    return {
      index,
      peerId,
      peerName,
      gameIds,
      status,
      registeredAt,
      publicKey,
      eventCount,
      preTrusted,
      tau: tau[index]!,
      a: a[index]!,
      b: b[index]!,
      weight: weight[index]!,
    };
  }

  protected preTrusted(): string[] {
    const { peers, preTrusted } = this.running.state;
    return preTrusted.map((index) => peers.at(index).peerId);
  }
}

/** Record up to which weights are computed: later ones that do not affect them count as included. */
function weightsStatus({ actor, state, weights }: GroupLoop): WeightsStatus {
  const isCurrent = weights.computedAt !== null && state.evidenceSeq <= weights.basedOnSeq;
  return { basedOnSeq: isCurrent ? actor.durableSeq : weights.basedOnSeq, computedAt: weights.computedAt };
}
