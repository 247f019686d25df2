/** Connections that write to a node until it is gone, and what a later node on the same folder must hold of that. */
import { setTimeout as delay } from 'node:timers/promises';
import { verifyInChild } from '../../src/workers/verify/verify-runner.js';
import { type NodeProcess, startProcess } from '../support/process.js';
import type { Random } from '../support/random.js';
import { until } from '../support/until.js';
import type { Rounds } from './fault.js';

const batchMax = 500;

export interface Peer {
  readonly peer_id: string;
  readonly api_key: string;
}

export async function register(url: string): Promise<Peer> {
  const response = await fetch(`${url}/api/v1/peers/register`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ peer_name: 'durable', game_ids: ['g'] }),
  });
  if (response.status !== 201) throw new Error(`registration answered ${response.status}`);
  return (await response.json()) as Peer;
}

export function eventOf(peer: Peer, id: string, player: string) {
  const timestamp = '2026-01-01T00:00:00Z';
  const fixed = { schema_version: '1.0.0', event_type: 'commendation', game_id: 'g', severity: 1, timestamp };
  return { ...fixed, event_id: id, peer_id: peer.peer_id, player_id: player };
}

export function post(url: string, path: string, peer: Peer, body: unknown, more = {}): Promise<Response> {
  const headers = { 'content-type': 'application/json', 'x-peer-api-key': peer.api_key, ...more };
  return fetch(url + path, { method: 'POST', headers, body: JSON.stringify(body) });
}

/** Withdraws an event or erases a player, by its path below `/api/v1`. Returns the status. */
export async function remove(url: string, path: string, peer: Peer): Promise<number> {
  const headers = { 'x-peer-api-key': peer.api_key };
  const response = await fetch(`${url}/api/v1/${path}`, { method: 'DELETE', headers });
  await response.arrayBuffer();
  return response.status;
}

export interface Answer {
  readonly status: number;
  readonly code?: string;
}

/** Sends several events as a batch and one by itself. Returns the answer to each. */
export async function send(url: string, peer: Peer, events: readonly object[], more = {}): Promise<Answer[]> {
  const isBatch = events.length > 1;
  const path = isBatch ? '/api/v1/events/batch' : '/api/v1/events';
  const response = await post(url, path, peer, isBatch ? { events } : events[0], more);
  const { results, ...whole } = (await response.json()) as { results?: Answer[]; code?: string };
  return results ?? events.map(() => ({ ...whole, status: response.status }));
}

/** Ids of `ids` that the node does not hold: each is sent again, and a stored one, withdrawn or not, is a duplicate. */
export async function missing(url: string, peer: Peer, ids: readonly string[]): Promise<string[]> {
  const lost: string[] = [];
  for (let from = 0; from < ids.length; from += batchMax) {
    const part = ids.slice(from, from + batchMax);
    const events = part.map((id) => eventOf(peer, id, 'nobody'));
    // A connection that rests for as long as a busy machine likes may be closed just when it is used again.
    const answers = await send(url, peer, events, { connection: 'close' });
    lost.push(...part.filter((_, i) => answers[i]!.status !== 409));
  }
  return lost;
}

export interface WritersOptions {
  /** How many there are, drawn anew by each node's writers. */
  readonly connections: () => number;
  /** Events of one request; default 1. */
  readonly batch?: number;
  /** Called before each request with the id of its first event. True if it asked for something in its place. */
  readonly beside?: (writers: Writers, id: string) => Promise<boolean>;
}

/** Percentage of writes that withdraw an event. */
const withdrawalsPercent = 2;

/** Lets writers withdraw now and then what was acknowledged to them. */
export const withdrawing = (random: Random) => async (writers: Writers) =>
  random.below(100) < withdrawalsPercent && (await writers.withdraw());

export class Writers {
  readonly node: NodeProcess;
  readonly peer: Peer;
  /** Acknowledged events and withdrawals. */
  readonly events: string[] = [];
  readonly withdrawals: string[] = [];
  /** Answers that a node whose disk may be full should not give. */
  readonly unexpected = new Set<string>();
  /** Resolves once no connection writes any more. */
  readonly ended: Promise<unknown>;
  readonly #options: WritersOptions;
  #isOver = false;
  #withdrawing = 0;

  /** `name` begins the ids of their events. */
  constructor(node: NodeProcess, peer: Peer, name: string, options: WritersOptions) {
    this.node = node;
    this.peer = peer;
    this.#options = options;
    this.ended = Promise.all(Array.from({ length: options.connections() }, (_, i) => this.#write(`${name}-c${i}`)));
  }

  /**
   * Resolves once something was acknowledged, before which a round has nothing to lose, or once nothing can be any
   * more: the node has ended, or answered nothing else for far longer than that takes. Which of both, it answers.
   */
  async isAnswered(): Promise<boolean> {
    let isGone = false;
    void this.node.ended.then(() => {
      isGone = true;
    });
    await until(() => isGone || this.events.length > 0).catch(() => undefined);
    return this.events.length > 0;
  }

  /** Lets each connection end with the request under way. */
  async end(): Promise<void> {
    this.#isOver = true;
    await this.ended;
  }

  /** Withdraws the oldest acknowledged event; false if there is none. */
  async withdraw(): Promise<boolean> {
    const id = this.events[this.#withdrawing];
    if (id === undefined) return false;
    this.#withdrawing += 1;
    if ((await remove(this.node.url, `events/${id}`, this.peer)) === 200) this.withdrawals.push(id);
    return true;
  }

  async #write(name: string): Promise<void> {
    const { batch = 1, beside } = this.#options;
    const { url } = this.node;
    for (let i = 0; !this.#isOver; i++) {
      const ids = Array.from({ length: batch }, (_, n) => `${name}-${i}-${n}`);
      // Single events share a few players, those of a batch have one each.
      const events = ids.map((id) => eventOf(this.peer, id, batch === 1 ? `a writer's player ${i % 7}` : id));
      try {
        if (await beside?.(this, ids[0]!)) continue;
        const answers = await send(url, this.peer, events);
        const accepted = ids.filter((_, n) => answers[n]?.status === 201);
        this.events.push(...accepted);
        for (const { status, code } of answers) {
          const isOfFull = status === 503 && code === 'dependency_unavailable';
          if (status !== 201 && !isOfFull && code !== 'overloaded') this.unexpected.add(`${status} ${code}`);
        }
        if (accepted.length === 0) await delay(5);
      } catch (error) {
        this.unexpected.add(String(error));
        return;
      }
    }
  }
}

/** Checks that a later node holds all acknowledged writes. */
export async function mustHold(
  { url }: NodeProcess,
  { peer, events, withdrawals }: Writers,
  say: (what: string) => void,
): Promise<void> {
  const lost = await missing(url, peer, events);
  if (lost.length > 0) say(`${lost.length} acknowledged events are lost, ${lost[0]} first`);
  for (const id of withdrawals) {
    const status = await remove(url, `events/${id}`, peer);
    if (status !== 404) say(`${id} was withdrawn, and again with ${status}`);
  }
}

export interface Lives extends WritersOptions {
  readonly env: Record<string, string>;
  /** Longest time, in ms, until the end; a round that is not early counts it from its first acknowledgement. */
  readonly endWithinMs: (isEarly: boolean) => number;
  readonly isEarly?: (round: number) => boolean;
  /** Ends the node, and whatever else it takes until another one can start. */
  readonly end: (node: NodeProcess, say: (what: string) => void) => Promise<void>;
}

/**
 * One node after the other on the folder `dir`, each under writers until it is ended at a random time. Each must hold
 * all that was acknowledged before; the last one stops in good order, and all of the store holds.
 */
export async function livesUnderWriters(rounds: Rounds, dir: string, lives: Lives): Promise<void> {
  const { tally, random } = rounds;
  const { endWithinMs, end, isEarly = () => false } = lives;
  const env = { DATA_DIR: dir, LOG_LEVEL: 'info', ...lives.env };
  let node = await startProcess(env);
  try {
    const peer = await register(node.url);
    for (const round of rounds) {
      const say = (what: string) => tally.break(`round ${round}: ${what}`);
      const writers = new Writers(node, peer, `r${round}`, lives);
      if (!isEarly(round) && !(await writers.isAnswered())) {
        say('nothing was acknowledged, so nothing could be lost');
        rounds.end();
      }
      await delay(random.below(endWithinMs(isEarly(round))));
      await end(node, say);
      await writers.ended;
      tally.add('acknowledged events', writers.events.length);
      tally.add('acknowledged withdrawals', writers.withdrawals.length);
      node = await startProcess(env);
      await mustHold(node, writers, say);
    }
    const stopped = await node.kill('SIGTERM');
    if (stopped !== 0) tally.break(`the last stop ended with ${stopped}`);
    const { ok, faults } = await verifyInChild(dir, 'full');
    if (!ok) tally.break(`the store does not hold: ${faults.join('; ')}`);
  } finally {
    node.child.kill('SIGKILL');
    await node.ended;
  }
}
