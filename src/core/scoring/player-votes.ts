/**
 * Holds the votes of one player's peers, reused from read to read, while a score is computed, and lets one vote speak
 * for each witness.
 */
import { cappedMass, loweringShare, measureStrength, roundForComparison } from '../evidence/evidence.js';
import { trustConstants as k } from '../evidence/trust-constants.js';
import type { PeerColumns } from '../tables/evidence-view.js';
import { CARRIES } from '../tables/peer-weights.js';

const NO_PEERS = -1;
const ENTRIES_AT_FIRST = 64;

/** Strength, in [0, 1], below which a ban is too faint to be named in an explanation. */
const BAN_STRENGTH_MIN = 0.1;

export class PlayerVotes {
  count = 0;
  peer = new Uint16Array(ENTRIES_AT_FIRST);
  /** Share of the claims, and of all evidence, that lowers, in [0, 1]. */
  x = new Float64Array(ENTRIES_AT_FIRST);
  share = new Float64Array(ENTRIES_AT_FIRST);
  /** `tau n1 v`, `tau n`, `tau own`, and `tau a'` of a measure; all 0 if another peer speaks for the witness. */
  voice = new Float64Array(ENTRIES_AT_FIRST);
  pull = new Float64Array(ENTRIES_AT_FIRST);
  mass = new Float64Array(ENTRIES_AT_FIRST);
  measured = new Float64Array(ENTRIES_AT_FIRST);
  /** `a'`, the strength of a measure; 0 if there is none. */
  measure = new Float64Array(ENTRIES_AT_FIRST);
  /** The larger of `w n` and `1.5 wm a'`, from which confidence is computed. */
  effective = new Float64Array(ENTRIES_AT_FIRST);
  /** The weight by which the vote counts as a witness. */
  weight = new Float64Array(ENTRIES_AT_FIRST);
  /** 1 if the vote of another peer represents the witness. */
  silent = new Uint8Array(ENTRIES_AT_FIRST);
  hasMeasures = false;
  /** The result: log-odds of a bad player before the prior and from which it is suspicious, and one-sided share. */
  logOdds = 0;
  suspicious = 0;
  oneSided = 0;
  isCarried = false;
  #speakers = new Int32Array(0);
  #senders = new Int32Array(0);

  begin(most: number): void {
    this.count = 0;
    this.isCarried = false;
    this.hasMeasures = false;
    if (most <= this.peer.length) return;
    this.peer = new Uint16Array(2 * most);
    this.silent = new Uint8Array(2 * most);
    const names = ['x', 'share', 'voice', 'pull', 'mass', 'measured', 'measure', 'effective', 'weight'] as const;
    for (const name of names) this[name] = new Float64Array(2 * most);
  }

  /** Keeps the heaviest vote of each witness; among equal ones, that of the peer that registered first. */
  keepOnePerWitness(witness: Uint16Array): void {
    const { count, peer, voice } = this;
    const speakers = this.#speakersOf(witness);
    for (let e = 0; e < count; e++) {
      const named = witness[peer[e]!]!;
      const f = speakers[named]!;
      const isHeard = f === NO_PEERS || roundForComparison(voice[e]!) > roundForComparison(voice[f]!);
      if (isHeard) speakers[named] = e;
      const silent = isHeard ? f : e;
      if (silent !== NO_PEERS) this.#silence(silent);
    }
    this.#forget(witness);
  }

  /**
   * Like `keepOnePerWitness`, for votes some of which carry an origin: keeps one vote of each witness and one vote of
   * each peer, whether its own or a carried one, the heaviest first. A peer therefore gains no second vote by naming an
   * origin. Returns the amount that origins add to the sum of `w n`, in which every own vote of a peer counts: the
   * excess of a carried vote over the peer's own, if the carried one was kept.
   */
  keepOnePerSender({ witness, sender, isGrouped }: PeerColumns): number {
    const { count, peer, voice, effective } = this;
    const speakers = this.#speakersOf(witness);
    if (this.#senders.length < sender.length) this.#senders = new Int32Array(sender.length).fill(NO_PEERS);
    const senders = this.#senders;
    const heaviestFirst = Array.from({ length: count }, (_, e) => e).sort(
      (e, f) => roundForComparison(voice[f]!) - roundForComparison(voice[e]!) || e - f,
    );
    for (const e of heaviestFirst) {
      const w = witness[peer[e]!]!;
      const s = sender[peer[e]!]!;
      if (speakers[w] === NO_PEERS && senders[s] === NO_PEERS) {
        speakers[w] = e;
        senders[s] = e;
      } else this.#silence(e);
    }
    let added = 0;
    for (let e = 0; e < count; e++) {
      const speaks = senders[sender[peer[e]!]!]!;
      if (isGrouped[peer[e]!] === CARRIES) {
        if (speaks === e) added += effective[e]!;
      } else if (speaks !== NO_PEERS && speaks !== e) added -= Math.min(effective[e]!, effective[speaks]!);
    }
    for (let e = 0; e < count; e++) senders[sender[peer[e]!]!] = NO_PEERS;
    this.#forget(witness);
    return added;
  }

  #silence(e: number): void {
    this.voice[e] = 0;
    this.pull[e] = 0;
    this.mass[e] = 0;
    this.measured[e] = 0;
    this.silent[e] = 1;
  }

  /** Fills in the vote at `at` of a pair with claims `c` and the decayed measure `a`. */
  addMeasure(at: number, c: number, a: number, peers: PeerColumns): void {
    const j = this.peer[at]!;
    const t = peers.tau[j]!;
    const strengthOf = measureStrength(a);
    this.hasMeasures = true;
    this.share[at] = loweringShare(c, this.x[at]!, a);
    this.voice[at] = t * cappedMass(c + a) * peers.finds[j]!;
    this.measure[at] = strengthOf;
    this.measured[at] = t * strengthOf;
    const own = Math.min(c + a, k.massOfPeerMax) * massShareOf(peers.m[j]!);
    this.mass[at] = t * Math.max(own, Math.min(c, k.massOfPeerMax));
    const effective = k.saturationMax * strengthOf * peers.measureWeight[j]!;
    this.effective[at] = Math.max(this.effective[at]!, effective);
    this.weight[at] = Math.max(peers.weight[j]!, peers.measureWeight[j]!);
  }

  /** Mass that the measures after the first one add: each of them counts twice. */
  furtherMeasures(m: Float64Array): number {
    let sum = 0;
    let first = 0;
    for (let e = 0; e < this.count; e++) {
      const mass = this.measured[e]! * massShareOf(m[this.peer[e]!]!);
      sum += mass;
      first = Math.max(first, mass);
    }
    return sum - first;
  }

  /** Number of speaking peers whose bans count for at least half of an independent server's of that strength. */
  independentBans(m: Float64Array): number {
    let found = 0;
    for (let e = 0; e < this.count; e++) {
      const strength = this.measure[e]!;
      if (strength >= BAN_STRENGTH_MIN && (this.measured[e]! / strength) * massShareOf(m[this.peer[e]!]!) >= 0.5)
        found++;
    }
    return found;
  }

  /**
   * Counts witnesses whose share of lowering evidence, rounded, is above `above`, in [0, 1], or is any (`ALL`): up to
   * `most` of them.
   */
  witnesses(witness: Uint16Array, above: number, most = Number.POSITIVE_INFINITY): number {
    const { count, peer, share, weight } = this;
    const speakers = this.#speakersOf(witness);
    let found = 0;
    for (let e = 0; e < count && found < most; e++) {
      const j = peer[e]!;
      if (this.isCarried && this.silent[e] === 1) continue;
      const counts = roundForComparison(share[e]!) > above && weight[e]! > k.witnessWeightMin;
      if (!counts || speakers[witness[j]!] !== NO_PEERS) continue;
      speakers[witness[j]!] = e;
      found++;
    }
    this.#forget(witness);
    return found;
  }

  /** Returns, per witness, the entry that represents it, initially none. Reused: many peers cost no more each. */
  #speakersOf(witness: Uint16Array): Int32Array {
    if (this.#speakers.length < witness.length) this.#speakers = new Int32Array(witness.length).fill(NO_PEERS);
    return this.#speakers;
  }

  #forget(witness: Uint16Array): void {
    for (let e = 0; e < this.count; e++) this.#speakers[witness[this.peer[e]!]!] = NO_PEERS;
  }
}

/** Share of a measure's full mass by its log-odds `m`, in [0, 1]. */
function massShareOf(m: number): number {
  return Math.min(1, m / k.measureOdds);
}

/** A vote counts as lowering if its share of lowering evidence is above this. */
export const LOWERS = 0.5;
/** Every vote's share is above this. */
export const ALL = -1;
