/**
 * The tag of an answer that holds scores: told from what is said of each player, since the address says who they are. A digest
 * of the body took a twentieth of a read and of a match. Whoever changes what these answers show takes that in here: a body of another form
 * with the tag of the one before would never reach those who keep the old one.
 */
import { CONFIDENCE_UNIT, wholeConfidence, wholeScore } from '../core/score.js';
import { verdicts } from '../core/vocabulary.js';
import type { TrustView } from '../group/api.js';
import { updatedHour } from './bodies.js';

/** Stands for a player that is not known. */
const UNKNOWN = -1;

/** A confidence as shown is one of so many, and so is a score. */
const FIGURES = CONFIDENCE_UNIT + 1;

export class ScoreTag {
  // Two of murmur3's, with constants of their own: any one figure that differs gives another tag, several do but for one case in 2 ** 64.
  #a = 0x2545f491;
  #b = 0x4f6cdd1d;

  /** Takes in the next player of the answer. */
  add(view: TrustView | undefined): this {
    if (view === undefined) return this.#mix(UNKNOWN);
    // 29 bits: 10,001 scores, as many confidences, four verdicts.
    const shown =
      (wholeScore(view) * FIGURES + wholeConfidence(view)) * verdicts.length + verdicts.indexOf(view.verdict);
    return this.#mix(shown).#mix(view.eventCount).#mix(updatedHour(view));
  }

  get text(): string {
    return `${this.#a}-${this.#b}`;
  }

  #mix(figure: number): this {
    this.#a = mixed(this.#a, figure, 0xcc9e2d51, 0x1b873593);
    this.#b = mixed(this.#b, figure, 0x85ebca6b, 0xc2b2ae35);
    return this;
  }
}

function mixed(sum: number, figure: number, first: number, second: number): number {
  const spread = Math.imul(rotated(Math.imul(figure, first), 15), second);
  return (Math.imul(rotated(sum ^ spread, 13), 5) + 0xe6546b64) | 0;
}

function rotated(word: number, by: number): number {
  return (word << by) | (word >>> (32 - by));
}
