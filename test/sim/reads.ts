/** Synchronous reads of a node from memory: players, peers, keys and counts, compared with the oracle. */
import type { GroupApi, TrustExplanation, TrustView } from '../../src/group/api.js';
import { Difference, same } from './difference.js';
import type { Oracle } from './oracle.js';
import { type ExpectedTrust, isNearBand, trustOf } from './scores.js';

/** Keys that are tried, the newest ones. */
const keysTried = 12;
/** A unit of evidence moves the log-odds by less than 13, and they and the mass the score by some hundreds. */
const scorePerEvidence = 1_000;

/**
 * Score, verdict and explanation of a subject that is known. False where the range of doubles lets nothing be said of
 * the score.
 */
export function compareTrust(
  oracle: Oracle,
  key: string,
  trust: TrustView,
  explained: TrustExplanation,
  now: number,
): boolean {
  const expected = trustOf(oracle, key, now);
  const { eventCount, updatedAt, score, confidence } = trust;
  const isSound = score >= 0 && score <= 100 && confidence >= 0 && confidence <= 1;
  if (!isSound) throw new Difference('score', `no score of ${key}: ${score}, ${confidence}`);
  same('score', `events and hour of ${key}`, [eventCount, updatedAt], [expected.eventCount, expected.updatedAt]);
  const isAllowed = oracle.isAllowed(key, now);
  same(
    'score',
    `whether ${key} is allowed`,
    [trust.allowed, explained.allowed],
    isAllowed ? [true, true] : [undefined, undefined],
  );
  const { halfLifeDays, banHalfLifeDays, weightsBasedOnSeq } = explained;
  const basedOn = oracle.facts.of('weights').at(-1)?.basedOnSeq ?? 0;
  same('score', 'half-lives of a read', { claims: halfLifeDays, measures: banHalfLifeDays }, oracle.halfLives);
  same('weights', 'record that the weights of a read are based on', weightsBasedOnSeq, basedOn);
  if (expected.error === null) return false;
  const near = (what: string, found: number, wanted: number, tolerance: number) => {
    if (Math.abs(found - wanted) <= tolerance) return;
    throw new Difference('score', `${what} of ${key}: found ${found}, expected ${wanted}`);
  };
  const sums = expected.error * 2 + 1e-9 * (expected.lowering + expected.raising);
  near('lowering evidence', explained.lowering, expected.lowering, sums);
  near('raising evidence', explained.raising, expected.raising, sums);
  const tolerance = 1e-7 + scorePerEvidence * expected.error;
  near('score', score, isAllowed ? 50 : expected.score, tolerance);
  near('confidence', confidence, isAllowed ? 0 : expected.confidence, tolerance);
  if (expected.isEdge) return true;
  const peersOf = (of: TrustExplanation | ExpectedTrust) => [of.peers, of.preTrusted, of.banned, of.bannedAfterOthers];
  same('score', `peers of ${key}`, peersOf(explained), peersOf(expected));
  const bans = expected.banShares.filter((share) => share >= 0.5).length;
  if (expected.banShares.every((share) => Math.abs(share - 0.5) > tolerance))
    same('score', `bans of ${key}`, explained.bans, bans);
  if (isAllowed) same('score', `verdict of ${key}`, trust.verdict, 'neutral');
  else if (!isNearBand(expected, tolerance)) same('score', `verdict of ${key}`, trust.verdict, expected.verdict);
  return true;
}

/** Every peer with its weights, the newest keys, and the counts of the group. */
export function comparePeers(group: GroupApi, oracle: Oracle, now: number): void {
  const { facts, preTrusted } = oracle;
  const eventCounts = new Map<number, number>();
  const lastHours = new Map<number, number>();
  for (const { peer, receivedAt } of facts.events.values()) {
    eventCounts.set(peer, (eventCounts.get(peer) ?? 0) + 1);
    lastHours.set(peer, Math.floor(receivedAt / 3_600_000) * 3_600_000);
  }
  const views = group.peers(0, facts.of('peer').length + 1);
  same('peers', 'number of peers', views.length, facts.of('peer').length);
  for (const [place, { number: index, peerId, peerName, gameIds, at, keyDigest }] of facts.of('peer').entries()) {
    const { tau, a, b, m, finds, weight, ...found } = views[place]!;
    const weights = oracle.weightsOf(index);
    const { tau: gate, measured } = weights;
    const shown = [gate, weights.a, weights.b, weights.m, weights.finds];
    same('weights', `weights of peer ${index}`, [tau, a, b, m, finds], shown);
    const odds = Math.max(weights.a + weights.b, measured === 1 ? weights.m : 0);
    const expectedWeight = Math.min(1, Math.max(0, (gate * odds) / 4));
    if (Math.abs(weight - expectedWeight) > 1e-12)
      throw new Difference('weights', `weight of peer ${index}: ${weight}`);
    const expected = {
      index,
      peerId,
      peerName,
      gameIds,
      status: oracle.statusOf(index),
      registeredAt: at,
      publicKey: null,
      eventCount: eventCounts.get(index) ?? 0,
      lastEventAt: lastHours.get(index) ?? null,
      contactEmail: null,
      keyDigest: facts.of('key').findLast(({ peer }) => peer === index)?.keyDigest ?? keyDigest,
      note: null,
      preTrusted: preTrusted.includes(index),
    };
    same('peers', `peer ${index}`, found, expected);
    const shared = group.sharedErasures(views[place]!);
    same('peers', `shared erasures of peer ${index}`, shared, oracle.sharedErasuresOf(peerId));
  }
  for (const { keyDigest } of [...facts.of('peer'), ...facts.of('key')].slice(-keysTried)) {
    const found = group.peerByKeyDigest(keyDigest);
    same('keys', 'peer of a key', found?.index ?? -1, oracle.peerOfKey(keyDigest, now));
    if (found !== undefined) same('keys', 'key of a caller', found.keyDigest, keyDigest);
  }
  const { events, players } = group.counts();
  same('counts', 'events and players', [events, players], [facts.events.size, oracle.subjects.length]);
  same(
    'counts',
    'pending erasures',
    group
      .pendingErasures()
      .map(({ subject }) => subject)
      .sort(),
    oracle.pending.sort(),
  );
}
