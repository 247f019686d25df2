/**
 * Holds what the bans of a log were worth before the third version of scoring, in which a ban was a claim, until the
 * record that changes the version: then they become measures. Lets the log of an earlier release replay; a state of the
 * third version has none.
 */
import { getOrMake } from '../get-or-make.js';
import { subjectBytes } from '../hashing/pseudonym.js';
import type { Subjects } from './subjects.js';

/** The bans of a pair: their part of its lowering sum, and the sum of measures that they become. */
interface Bans {
  claims: number;
  measure: number;
}

/** Share of a sum below which a difference is mere rounding error. */
const ROUNDING = 1e-12;

export class OldBans {
  /** By subject (hex), then by number of the peer. */
  readonly #bans = new Map<string, Map<number, Bans>>();

  /** Adds a ban whose mass the lowering sum contains. */
  add(subject: string, peer: number, claims: number, measure: number): void {
    const bans = getOrMake(
      getOrMake(this.#bans, subject, () => new Map()),
      peer,
      () => ({ claims: 0, measure: 0 }),
    );
    bans.claims += claims;
    bans.measure += measure;
  }

  /**
   * Notes that a record states a pair's lowering sum. If the sum is smaller than the bans, some of them were withdrawn
   * or lifted.
   */
  stated(subject: string, peer: number, lowering: number): void {
    const bans = this.#bans.get(subject)?.get(peer);
    if (bans === undefined || lowering >= bans.claims * (1 - ROUNDING)) return;
    bans.measure *= lowering / bans.claims;
    bans.claims = lowering;
  }

  erase(subject: string): void {
    this.#bans.delete(subject);
  }

  scale(factor: number, measureFactor: number): void {
    for (const peers of this.#bans.values()) {
      for (const bans of peers.values()) {
        bans.claims *= factor;
        bans.measure *= measureFactor;
      }
    }
  }

  /** Moves all bans from the lowering sums to the measures. */
  becomeMeasures(subjects: Subjects): void {
    const { entries } = subjects;
    for (const [subject, peers] of this.#bans) {
      const row = subjects.find(subjectBytes(subject));
      for (const [peer, { claims, measure }] of peers) {
        const entry = row < 0 ? -1 : subjects.findEntry(row, peer);
        if (entry < 0 || !(measure > 0)) continue;
        const lowering = entries.lowering(entry);
        entries.setLowering(entry, lowering - claims > lowering * ROUNDING ? lowering - claims : 0);
        entries.setMeasure(entry, measure);
      }
    }
    this.#bans.clear();
  }
}
