/**
 * Holds the bans of a log, which were claims before the third version of scoring, until the record that makes them
 * measures. Lets earlier logs replay.
 */
import { getOrMake } from '../get-or-make.js';
import { subjectBytes } from '../hashing/pseudonym.js';
import type { Subjects } from './subjects.js';

/** A ban: its event, its part of the lowering sum of its pair, and the measure that it becomes. */
interface Ban {
  readonly seq: number;
  claims: number;
  measure: number;
  /** The event that lifted the ban; 0 if the ban stands. */
  liftedBy: number;
}

/** Share of a sum below which a difference is mere rounding error. */
const ROUNDING = 1e-12;

export class OldBans {
  /** By subject (hex), then by number of the peer. */
  readonly #bans = new Map<string, Map<number, Ban[]>>();

  add(subject: string, peer: number, seq: number, claims: number, measure: number): void {
    const peers = getOrMake(this.#bans, subject, () => new Map<number, Ban[]>());
    getOrMake(peers, peer, () => []).push({ seq, claims, measure, liftedBy: 0 });
  }

  lifted(subject: string, peer: number, by: number): void {
    for (const ban of this.#of(subject, peer)) if (ban.liftedBy === 0) ban.liftedBy = by;
  }

  /** Notes the withdrawal of a ban or a lifting. `hidingSeq`: the later lifting that still hides its bans, or 0. */
  withdrawn(subject: string, peer: number, seq: number, hidingSeq: number): void {
    const bans = this.#of(subject, peer);
    const at = bans.findIndex((ban) => ban.seq === seq);
    if (at >= 0) bans.splice(at, 1);
    for (const ban of bans) if (ban.liftedBy === seq) ban.liftedBy = hidingSeq;
  }

  #of(subject: string, peer: number): Ban[] {
    return this.#bans.get(subject)?.get(peer) ?? [];
  }

  erase(subject: string): void {
    this.#bans.delete(subject);
  }

  scale(factor: number, measureFactor: number): void {
    for (const peers of this.#bans.values()) {
      for (const ban of [...peers.values()].flat()) {
        ban.claims *= factor;
        ban.measure *= measureFactor;
      }
    }
  }

  becomeMeasures(subjects: Subjects): void {
    const { entries } = subjects;
    for (const [subject, peers] of this.#bans) {
      const row = subjects.find(subjectBytes(subject));
      for (const [peer, bans] of peers) {
        const entry = row < 0 ? -1 : subjects.findEntry(row, peer);
        const standing = bans.filter(({ liftedBy }) => liftedBy === 0);
        const claims = standing.reduce((sum, ban) => sum + ban.claims, 0);
        const measure = standing.reduce((sum, ban) => sum + ban.measure, 0);
        if (entry < 0 || !(measure > 0)) continue;
        const lowering = entries.lowering(entry);
        entries.setLowering(entry, lowering - claims > lowering * ROUNDING ? lowering - claims : 0);
        entries.setMeasure(entry, measure);
      }
    }
    this.#bans.clear();
  }
}
