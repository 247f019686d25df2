/** Random acts of eight peers and the operator, for the lives in the tests of tables and snapshots. */
import { eventTypeNames } from '../../src/core/evidence/event-types.js';
import { decideErasure } from '../../src/core/rules/decide-removal.js';
import { decideHalfLife } from '../../src/core/rules/decide-setting.js';
import { OPERATOR } from '../../src/core/vocabulary.js';
import { bounds, type Given, subjectOf } from '../support/given.js';
import type { Random } from '../support/random.js';

/** Acts once: one act in `rarity` erases a player, one changes a half-life, and all others are events. */
export function actAtRandom(given: Given, random: Random, now: number, players: number, rarity: number): void {
  const player = `p${random.below(players)}`;
  const choice = random.below(rarity);
  if (choice === 0) {
    const erasure = { caller: OPERATOR, subject: subjectOf(player), commitment: 'c', by: 't' };
    given.done(decideErasure(given.state, bounds, erasure, now), now);
  } else if (choice === 1) {
    const kind = random.pick(['claims', 'measures'] as const);
    given.done(decideHalfLife(given.state, kind, 1 + random.below(5), now), now);
  } else {
    const event = { eventType: random.pick(eventTypeNames), severity: random.next() };
    given.event(random.below(8), player, { ...event, timestamp: now - random.below(1e9) }, now);
  }
}
