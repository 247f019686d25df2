/** Lists that end early, for the tests of damaged lists. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { EventDocument } from '../../../src/peer/import/plan-document.js';
import { type PlanDocument, plan } from '../import/plans.js';
import { lists } from './lists.js';

export const bans = 7;

/** The parts of an event that must be equal however the list was damaged. */
export function said({ player_id, line, banned_at, state }: EventDocument): string {
  return [line, player_id, banned_at, state].join(' ');
}

/** The plan of a cut list; null if a name in its header was cut, so that the import stops. */
function cutPlan(bytes: Uint8Array, name: string): PlanDocument | null {
  try {
    return plan(bytes, {}, name);
  } catch (error) {
    assert.is((error as { code: string }).code, 'cells_not_described');
    assert.not(bytes.includes(0x0a), 'only a header that is cut stops the import');
    return null;
  }
}

/** Defines a test for each format: its list is cut at every `step`-th byte. */
export function testCuts(step: number): void {
  for (const [name, make] of Object.entries(lists)) {
    test(`${name}: cut anywhere, no row is read that the whole list does not contain`, () => {
      const whole = make(bans);
      const known = new Set(plan(whole, { name: `${name}_bans` }).events.map(said));
      const bytes = Buffer.from(whole);
      for (let length = 0; length < bytes.length; length += step) {
        const list = cutPlan(bytes.subarray(0, length), name);
        if (list === null) continue;
        for (const event of list.events) assert.ok(known.has(said(event)), `${length}: ${said(event)}`);
        for (const { line, reason } of list.refused) assert.ok(line >= 1 && reason.length > 10, reason);
        const isInRow = list.events.length < bans && length > bytes.length / 2 && !/^\s/.test(whole.slice(length));
        if (isInRow && bytes[length - 1] !== 0x0a && !/[,[{]\s*$/.test(bytes.subarray(0, length).toString())) {
          assert.ok(list.refused.length > 0 || list.events.length > 0, `nothing is said of a cut at ${length}`);
        }
      }
    });
  }
}
