/** A key that bans nearly everybody: its bans count for nothing, and those of all others as before. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { Given } from '../../support/given.js';

const ban = { eventType: 'ban_applied' } as const;

/**
 * Five peers ban twenty players each, of whom some are shared; with `floods`, a sixth bans all of 500 players before.
 */
function group(floods: boolean): Given {
  const given = new Given().peers(6);
  if (floods) for (let i = 0; i < 500; i++) given.event(5, `p${i}`, ban);
  for (let peer = 0; peer < 5; peer++) for (let i = 0; i < 20; i++) given.event(peer, `p${peer * 12 + i}`, ban);
  given.compute();
  return given;
}

test('a key that bans everybody has no weight by it, and one honest ban beside its own stays neutral', () => {
  const given = group(true);
  const { measures } = given.state.weights;
  assert.is(measures!.finds[5], 0);
  assert.is(measures!.m[5], 0);
  assert.is(given.trust('p3').verdict, 'neutral');
});

test('two honest bans beside it make a player suspicious', () => {
  const given = new Given().peers(6);
  for (let i = 0; i < 500; i++) given.event(5, `p${i}`, ban);
  for (let peer = 0; peer < 5; peer++) for (let i = 0; i < 20; i++) given.event(peer, `p${peer * 12 + i}`, ban);
  given.compute();
  assert.is(given.trust('p12').verdict, group(false).trust('p12').verdict);
});

test('the first peer that imports its list floods nothing', () => {
  const given = new Given().peers(6);
  for (let i = 0; i < 500; i++) given.event(5, `p${i}`, ban);
  given.compute();
  assert.ok(given.state.weights.measures!.finds[5]! > 0.9);
});

test.run();
