import { test } from 'uvu';
import * as assert from 'uvu/assert';
import {
  type EventTypeId,
  eventTypeName,
  eventTypeNamed,
  eventTypeNames,
  eventTypes,
  isEventTypeId,
  isEvidence,
  isMeasure,
  raises,
  revokesLowering,
} from '../../../src/core/evidence/event-types.js';
import { cappedMass, saturate, strength } from '../../../src/core/evidence/evidence.js';

test('one peer counts at most 1.5 on one player, and 1 with one event of severity 1', () => {
  assert.is(saturate(0), 0);
  assert.is(saturate(0.5), 0.75);
  assert.is(saturate(1), 1);
  assert.ok(saturate(1e9) < 1.5 && saturate(1e9) > 1.499);
});

test('mass beyond one event is still one vote', () => {
  assert.equal([cappedMass(0), cappedMass(0.25), cappedMass(1), cappedMass(50)], [0, 0.25, 1, 1]);
});

test('of the share of repeated events a two-sided peer has all and one that only reports half', () => {
  assert.equal([strength(0.75, 0), strength(0.75, 1), strength(1, 0)], [0.75, 0.75, 1]);
  assert.equal([strength(1.4, 1), strength(1.4, 0.5), strength(1.4, 0)], [1.4, 1.2999999999999998, 1.2]);
});

test('only bans are measures, only liftings are no evidence, and types that raise have a positive sign', () => {
  const typesWith = (holds: (id: EventTypeId) => boolean) =>
    eventTypeNames.filter((name) => holds(eventTypes[name].id));
  assert.equal(typesWith(isMeasure), ['ban_applied']);
  assert.equal(
    typesWith((id) => !isEvidence(id)),
    ['ban_lifted'],
  );
  assert.equal(
    typesWith(raises),
    eventTypeNames.filter((name) => eventTypes[name].sign > 0),
  );
  assert.equal(
    typesWith((id) => eventTypeNamed(eventTypeName(id)).id === id),
    eventTypeNames,
  );
  const { id } = eventTypes.ban_lifted;
  assert.equal([0, 1, eventTypeNames.length, eventTypeNames.length + 1].map(isEventTypeId), [false, true, true, false]);
  const revokes = (event_type: number, mass: number, severity: number) =>
    revokesLowering({ event_type, mass, severity });
  assert.equal(
    [revokes(id, 0, 0.1), revokes(id, 0, 0), revokes(id, 1, 1), revokes(1, 0, 1)],
    [true, false, false, false],
  );
});

test.run();
