/**
 * The audit log as pages show it, against the facts: every entry, and a chain of hashes that never changes, told anew.
 */
import { hash } from 'node:crypto';
import type { AuditPage } from '../../src/group/api.js';
import { same } from './difference.js';
import type { AuditedFact } from './facts.js';

const start = '0'.repeat(64);

export class AuditTrail {
  /** The hash of each entry that was ever shown, by its record. */
  readonly #shown = new Map<number, string>();

  /** `isFirst`: the page begins with the first entry of all. */
  compare({ entries }: AuditPage, expected: readonly AuditedFact[], isFirst: boolean): void {
    let previous = isFirst ? start : null;
    same('audit', 'number of entries', entries.length, expected.length);
    for (const [i, { seq, at, action, actor, target, prevHash, hash: entryHash }] of entries.entries()) {
      const fact = expected[i]!;
      same('audit', `entry at ${seq}`, [action, actor, at], [fact.action, fact.actor, fact.at]);
      if (fact.target !== null) same('audit', `target of the entry at ${seq}`, target, fact.target);
      const own = hash('sha256', prevHash + JSON.stringify([seq, at, action, actor, target]), 'hex');
      const before = this.#shown.get(seq) ?? entryHash;
      this.#shown.set(seq, entryHash);
      same('audit', `hash at ${seq}`, [entryHash, entryHash, prevHash], [own, before, previous ?? prevHash]);
      previous = entryHash;
    }
  }
}
