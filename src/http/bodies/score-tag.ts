/**
 * Computes the entity tag of an answer with scores from the figures of each player; the URL names the players. A digest
 * of the body took a twentieth of the time of a read. A new member of these bodies must enter the tag too; otherwise a
 * caller that cached the old body would never receive the new one.
 */
import { CONFIDENCE_UNIT } from '../../core/scoring/score.js';
import { verdicts } from '../../core/vocabulary.js';

const UNKNOWN = -1;

/** Number of distinct published confidences, and of distinct scores. */
const FIGURES = CONFIDENCE_UNIT + 1;

export class ScoreTag {
  // Two sums like the final step of murmur3. A difference in one figure always changes the tag; differences in several
  // do, except for one case in 2 ** 64.
  #a = 0x2545f491;
  #b = 0x4f6cdd1d;

  /** Adds the next player's figures: score, confidence (smallest units), number of the verdict, hour since 1970. */
  add(score: number, confidence: number, verdict: number, eventCount: number, hour: number, isAllowed = false): void {
    // The first figure takes 29 bits. An allowed player has an inverted hour, which no other player has.
    this.#mix((score * FIGURES + confidence) * verdicts.length + verdict, eventCount, isAllowed ? ~hour : hour);
  }

  addUnknown(): void {
    this.#mix(UNKNOWN, 0, 0);
  }

  /** Decimal: another base takes six times as long. */
  get text(): string {
    return `${this.#a}_${this.#b}`;
  }

  #mix(rounded: number, eventCount: number, hour: number): void {
    this.#a = mixed(this.#a, rounded, eventCount, hour, 0x85ebca6b, 0xc2b2ae35);
    this.#b = mixed(this.#b, rounded, eventCount, hour, 0xcc9e2d51, 0x1b873593);
  }
}

/** Each step is invertible, so that two different values of one figure give different results. */
function mixed(sum: number, first: number, second: number, third: number, odd: number, other: number): number {
  const one = Math.imul(sum ^ first, odd);
  const two = Math.imul(one ^ (one >>> 15) ^ second, other);
  const three = Math.imul(two ^ (two >>> 13) ^ third, odd);
  return three ^ (three >>> 16);
}
