/**
 * Readers of the verdict stream, the client's cache among them, under fault: the node killed and started again beneath
 * them, each reader cut off at random, while events, withdrawals and erasures come and weights are published. Once it
 * is quiet, what a reader holds is what the node answers.
 */
import { hash } from 'node:crypto';
import { rmSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { limits } from '../../src/limits.js';
import { startProcess, temporaryFolder } from '../support/process.js';
import type { Random } from '../support/random.js';
import { differences, type PublishedValues, StreamReader } from '../support/stream-reader.js';
import { ClientReader } from './client-reader.js';
import type { Fault, Rounds } from './fault.js';
import { eventOf, type Peer, register, remove, send } from './writers.js';

const readers = 4;
const peers = 3;
const players = 1_000;
const eventsPerRound = 4_000;
const batchEvents = 50;
/** The client waits for up to half a minute before it connects again. */
const settleMs = 60_000;
const salt = 'a salt of sixteen bytes';
const types = ['report_cheating', 'commendation', 'ban_applied', 'report_toxicity'] as const;
const hashOf = (player: number): string => hash('sha256', `player ${player}${salt}`, 'hex');
const everyHash = Array.from({ length: players }, (_, i) => hashOf(i));

/** A reader that goes on connecting, and leaves at random moments, until it is told to stay. */
class Restless {
  readonly reader: StreamReader;
  #url = '';
  #staying = false;
  readonly #random: Random;
  readonly #ended: Promise<void>;
  #over = false;

  constructor(key: string, random: Random) {
    this.reader = new StreamReader(key, false);
    this.#random = random;
    this.#ended = this.#run();
  }

  use(url: string): void {
    this.#url = url;
    this.#staying = false;
  }

  stay(): void {
    this.#staying = true;
  }

  async close(): Promise<void> {
    this.#over = true;
    await this.reader.close();
    await this.#ended;
  }

  async #run(): Promise<void> {
    while (!this.#over) {
      const status = this.#url === '' ? 0 : await this.reader.connect(this.#url).catch(() => 0);
      if (status === 200) await Promise.race([this.reader.over, this.#leave()]);
      if (!this.#over) await delay(this.#random.below(30));
    }
  }

  async #leave(): Promise<void> {
    await delay(this.#random.below(300));
    if (this.#staying) await this.reader.over;
    else await this.reader.cut();
  }
}

/** Writes until the node dies or all is written; answers how much was. */
async function write(url: string, members: readonly Peer[], round: number, random: Random): Promise<number> {
  let written = 0;
  try {
    for (let n = 0; n < eventsPerRound; n += batchEvents) {
      const peer = random.pick(members);
      const events = Array.from({ length: batchEvents }, (_, i) => ({
        ...eventOf(peer, `r${round}-${n + i}`, `player ${random.below(players)}`),
        event_type: random.pick(types),
        timestamp: new Date().toISOString(),
      }));
      written += (await send(url, peer, events)).filter(({ status }) => status === 201).length;
      const dice = random.below(40);
      if (dice === 0) await remove(url, `subjects/${hashOf(random.below(players))}`, peer);
      else if (dice < 6) await remove(url, `events/r${round}-${n + random.below(batchEvents)}`, peer);
    }
  } catch {
    // The node is dead.
  }
  return written;
}

type TableOf = (hashes: readonly string[]) => Promise<ReadonlyMap<string, PublishedValues>>;

interface Compared {
  /** Differences between the table and the node. */
  readonly differ: readonly string[];
  /** Players in the table: two in which nobody stands are the same. */
  readonly known: number;
}

/** Compares a reader's table with the node's, once the reader had time to receive all changes. */
async function settled(url: string, key: string, tableOf: TableOf): Promise<Compared> {
  const until = performance.now() + settleMs;
  for (;;) {
    const compared = await tableOf(everyHash).then(
      async (table) => ({ differ: await differences(url, key, table, everyHash), known: table.size }),
      (error: Error) => ({ differ: [error.message], known: 0 }),
    );
    if (compared.differ.length === 0 || performance.now() > until) return compared;
    await delay(100);
  }
}

async function run(rounds: Rounds): Promise<void> {
  const { tally, random } = rounds;
  const dir = temporaryFolder();
  const env = {
    DATA_DIR: dir,
    LOG_LEVEL: 'info',
    GROUP_SALT: salt,
    WEIGHTS_INTERVAL_MS: '100',
    SNAPSHOT_EVERY: '5000',
  };
  let node = await startProcess(env);
  const restless: Restless[] = [];
  const closing: (() => Promise<void>)[] = [];
  try {
    const members: Peer[] = [];
    for (let i = 0; i < peers; i++) members.push(await register(node.url));
    const key = members[0]!.api_key;
    for (let i = 0; i < readers; i++) restless.push(new Restless(key, random));
    const client = new ClientReader(salt, members[0]!.peer_id, key, random);
    closing.push(() => client.close());
    const compare = async (when: string, written: number): Promise<void> => {
      for (const one of [...restless, client]) one.stay();
      const tables: TableOf[] = restless.map(
        ({ reader }) =>
          async () =>
            reader.table,
      );
      tables.push((hashes) => client.table(hashes));
      const found = await Promise.all(tables.map((tableOf) => settled(node.url, key, tableOf)));
      for (const [place, { differ, known }] of found.entries()) {
        tally.add('values compared', known);
        if (differ.length > 0) tally.break(`${when}: reader ${place} differs in ${differ.length}, ${differ[0]} first`);
        else if (known === 0 && written > 0)
          tally.break(`${when}: neither reader ${place} nor the node knows a player`);
      }
    };
    let written = 0;
    for (const round of rounds) {
      for (const one of [...restless, client]) one.use(node.url);
      const writing = write(node.url, members, round, random);
      // Half of the lives end amid the writing. In the others what was heard by resuming is compared before a restart
      // makes it anew.
      if (round % 2 === 0) await Promise.race([writing, delay(random.below(500))]);
      else {
        const accepted = await writing;
        if (accepted === 0) tally.break(`round ${round}: nothing was accepted, so there was nothing to hear`);
        await compare(`round ${round}, resumed`, written + accepted);
      }
      await node.kill('SIGKILL');
      written += await writing;
      node = await startProcess(env);
      for (const one of [...restless, client]) one.use(node.url);
      await compare(`round ${round}, restarted`, written);
    }
    tally.add('events', written);
    tally.add('streams of the client', client.connections);
    for (const name of ['events', 'values compared', 'streams of the client']) tally.need(name);
    for (const { reader } of restless) {
      for (const [event, count] of reader.counts) tally.add(`${event} frames`, count);
      if (reader.fault !== undefined) tally.break(reader.fault.message);
    }
  } finally {
    for (const one of restless) closing.push(() => one.close());
    for (const close of closing) await close().catch(() => undefined);
    node.child.kill('SIGKILL');
    await node.ended;
    rmSync(dir, { recursive: true, force: true });
  }
}

export const stream: Fault = {
  name: 'stream',
  summary: `SIGKILL under ${readers} readers of the verdict stream and a client's cache, all cut off at random; each ends with the node's values, within ${limits.streamScoreStep} point`,
  rounds: 50,
  run,
};
