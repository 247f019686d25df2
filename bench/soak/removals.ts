/** Sends erasures and withdrawals at a low rate beside the load, each of an event or a player that it made itself. */
import { setTimeout as delay } from 'node:timers/promises';
import { request } from 'undici';
import { subjectHash } from '../../src/client/ids/subject.js';
import { gameId, type Site, timestampOf } from '../load/requests.js';

/** An erasure removes all snapshots, and the node makes a new one soon after: one a minute. */
const erasureEveryMs = 60_000;
const withdrawalEveryMs = 2_000;
const eventsOfErased = 3;

/** Sends removals until `signal` aborts. Resolves with the counts, unexpected answers by their kind. */
export async function removeAlong(url: string, site: Site, salt: string, signal: AbortSignal) {
  const counts = { erasures: 0, withdrawals: 0, odd: new Map<string, number>(), longestMs: 0 };
  const { peerId, apiKey } = site.peers[0]!;

  async function call(method: 'POST' | 'DELETE', path: string, body?: object): Promise<boolean> {
    const started = performance.now();
    const headers = { 'x-peer-api-key': apiKey, 'content-type': 'application/json' };
    const answer = await request(url + path, { method, headers, body: body ? JSON.stringify(body) : null });
    await answer.body.dump();
    counts.longestMs = Math.max(counts.longestMs, performance.now() - started);
    if (answer.statusCode < 300) return true;
    const what = `${method} ${answer.statusCode}`;
    counts.odd.set(what, (counts.odd.get(what) ?? 0) + 1);
    return false;
  }

  const submit = (eventId: string, player: string, i: number) =>
    call('POST', '/api/v1/events', {
      schema_version: '1.0.0',
      event_id: eventId,
      event_type: 'report_spam',
      peer_id: peerId,
      player_id: player,
      game_id: gameId,
      severity: 1,
      timestamp: timestampOf(i),
    });

  async function erase(n: number): Promise<void> {
    const player = `erased-${n}`;
    for (let i = 0; i < eventsOfErased; i++) await submit(`erased-${n}-${i}`, player, i);
    if (await call('DELETE', `/api/v1/subjects/${subjectHash(player, salt)}`)) counts.erasures += 1;
  }

  async function withdraw(n: number): Promise<void> {
    await submit(`withdrawn-${n}`, 'withdrawn', n);
    if (await call('DELETE', `/api/v1/events/withdrawn-${n}`)) counts.withdrawals += 1;
  }

  async function repeat(everyMs: number, act: (n: number) => Promise<void>): Promise<void> {
    for (let n = 0; !signal.aborted; n++) {
      await delay(everyMs, undefined, { signal }).catch(() => undefined);
      if (!signal.aborted) await act(n);
    }
  }

  await Promise.all([repeat(erasureEveryMs, erase), repeat(withdrawalEveryMs, withdraw)]);
  return counts;
}
