/** Sends erasures and withdrawals at a low rate beside the load, each of an event or a player that it made itself. */
import { createHash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { request } from 'undici';
import { gameId, type Site, timestampOf } from '../load/requests.js';

export interface RemovalCounts {
  erasures: number;
  withdrawals: number;
  readonly odd: Map<string, number>;
  /** The longest time to an answer, ms. */
  longestMs: number;
}

export interface RemovalRates {
  readonly erasureEveryMs: number;
  readonly withdrawalEveryMs: number;
}

const eventsOfErased = 3;

/** Sends removals until `signal` aborts. Resolves with the counts. */
export async function removeAlong(
  url: string,
  site: Site,
  salt: string,
  { erasureEveryMs, withdrawalEveryMs }: RemovalRates,
  signal: AbortSignal,
): Promise<RemovalCounts> {
  const counts: RemovalCounts = { erasures: 0, withdrawals: 0, odd: new Map(), longestMs: 0 };
  const [peer] = site.peers as [Site['peers'][number]];

  async function call(method: 'POST' | 'DELETE', path: string, body?: object): Promise<boolean> {
    const started = performance.now();
    const answer = await request(url + path, {
      method,
      headers: { 'x-peer-api-key': peer.apiKey, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
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
      peer_id: peer.peerId,
      player_id: player,
      game_id: gameId,
      severity: 1,
      timestamp: timestampOf(i),
    });

  async function erase(n: number): Promise<void> {
    const player = `erased-${n}`;
    for (let i = 0; i < eventsOfErased; i++) await submit(`erased-${n}-${i}`, player, i);
    const hash = createHash('sha256').update(player).update(salt).digest('hex');
    if (await call('DELETE', `/api/v1/subjects/${hash}`)) counts.erasures += 1;
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
