/**
 * In a large group the first rounds of the log-odds look at a part of the players: what comes out is nearly the same.
 */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { EvidenceColumns } from '../../../bench/quality/evidence-columns.js';
import { peerTrustOf } from '../../../bench/quality/evidence-columns.js';
import { trustConstants } from '../../../src/core/evidence/trust-constants.js';
import { Random } from '../../support/random.js';
import { type Entry, evidenceOf } from './small-groups.js';

/**
 * Peers of four kinds: sharp, blurred, one-sided and lying; one to three of them on each player, a fifth of which is
 * bad.
 */
function drawGroup(players: number, peers: number): EvidenceColumns {
  const draws = new Random(7);
  const random = () => draws.next();
  const rows = Array.from({ length: players }, () => {
    const isBad = random() < 0.2;
    const first = Math.floor(random() * peers);
    const votes = 1 + Math.floor(random() * 3);
    return Array.from({ length: votes }, (_, v): Entry => {
      const j = (first + v * 3) % peers;
      const sharp = isBad ? 0.9 : 0.08;
      const saysBad = random() < ([isBad ? 0.6 : 0.3, 1, isBad ? 0.1 : 0.9][j % 10] ?? sharp);
      const mass = 0.4 + 2 * random();
      return saysBad ? [j, mass, 0] : [j, 0, mass];
    });
  });
  return evidenceOf(peers, rows);
}

test('weights differ by a hundredth at most from those whose every round looks at every player', () => {
  const evidence = drawGroup(120_000, 20);
  const facts = { preTrusted: new Uint8Array(20), excluded: new Uint8Array(20) };
  const constants = { ...trustConstants, firstRoundsPerPeer: 1 };
  const all = peerTrustOf(evidence, facts, { ...constants, firstRoundsPlayers: 1e9 });
  const part = peerTrustOf(evidence, facts, { ...constants, firstRoundsPlayers: 30_000 });
  const change = Math.max(...all.weight.map((weight, j) => Math.abs(weight - part.weight[j]!)));
  assert.not.equal(part.a, all.a, 'the part was all');
  assert.ok(change < 0.01, String(change));
  assert.equal(part.tau, all.tau);
});

test('a group that is not large is computed bit for bit as if there were no such part', () => {
  const evidence = drawGroup(5_000, 20);
  const facts = { preTrusted: new Uint8Array(20), excluded: new Uint8Array(20) };
  const all = peerTrustOf(evidence, facts, { ...trustConstants, firstRoundsPlayers: 1e9 });
  assert.equal(peerTrustOf(evidence, facts), all);
});

test.run();
