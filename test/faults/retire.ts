/**
 * SIGKILL while old events leave the log of a node of its own, under writers. In the end no file holds a byte of their
 * ids, what they said of players is what it was to the last bit, the log verifies, and what was acknowledged meanwhile
 * is there.
 */
import { cpSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { decideEvent } from '../../bench/core/decide-event.js';
import { BatchWriter, NONCE_BYTES } from '../../src/core/records/batch.js';
import type { LogRecord } from '../../src/core/records/records.js';
import { decideRegistration } from '../../src/core/rules/decide-peer.js';
import type { GroupState } from '../../src/core/state.js';
import { formGroup } from '../../src/group/recovery/formation.js';
import type { Follower } from '../../src/group/recovery/recovery.js';
import { clock, random } from '../../src/node/system.js';
import { openLogReader } from '../../src/store/log/lmdb-log.js';
import { acquireFolder } from '../../src/store/ownership/owner.js';
import { verifyInChild } from '../../src/workers/verify/verify-runner.js';
import { closing } from '../support/closing.js';
import { subjectKeyOf, subjectOf } from '../support/given.js';
import { startProcess } from '../support/process.js';
import { type Fault, inFastFolder, type Rounds, type Tally } from './fault.js';
import { lifeSalt, recovered } from './life.js';
import { missing, type Peer, register, Writers } from './writers.js';

const dayMs = 86_400_000;
const batches = 600;
const batchEvents = 40;
const players = 300;
const peers = 3;
const killWithinMs = 1_200;
/** Lives behind the last kill, each twice as long as the one before: far more than the old events take to leave. */
const endLivesMax = 7;
/** A mark in every old event: no file may contain it in the end. */
const mark = 'an-old-event';

/** Fills the folder `dir` with events that were received three days ago. */
async function fillOld(dir: string): Promise<void> {
  const now = clock.now() - 3 * dayMs;
  await using writer = closing(await acquireFolder(dir));
  const identity = { groupId: 'local', identityMode: 'privacy-first', environment: 'dev' } as const;
  const formation = { identity, halfLifeDays: 30, banHalfLifeDays: 180, salt: Buffer.from(lifeSalt) };
  const follower: Follower = await formGroup(formation, writer, { now: () => now }, random);
  const { state } = follower;
  let chain = follower.chain;
  const commit = async (decide: () => readonly LogRecord[]) => {
    const batch = new BatchWriter();
    const firstSeq = state.lastSeq + 1;
    for (const record of decide()) batch.add(record);
    const sealed = batch.seal(firstSeq, now, random.bytes(NONCE_BYTES), chain);
    await writer.append({ firstSeq, bytes: sealed.bytes }, []);
    chain = sealed.chain;
  };
  for (let i = 0; i < peers; i++) {
    const bounds = { peersMax: 10, erasureQuotaPerDay: 0, erasureMode: 'peer' } as const;
    const peer = { peerId: `peer-${i}`, peerName: 'old', gameIds: ['g'], keyDigest: `key-${i}`, by: 'test' };
    await commit(() =>
      decideRegistration(state, bounds, peer, now).records.map((record) => applied(state, record, now)),
    );
  }
  for (let i = 0; i < batches; i++) await commit(() => oldEvents(state, i, now));
}

function applied<R extends LogRecord>(state: GroupState, record: R, at: number): R {
  state.apply(record, at);
  return record;
}

function oldEvents(state: GroupState, batch: number, now: number): LogRecord[] {
  return Array.from({ length: batchEvents }, (_, i) => {
    const number = batch * batchEvents + i;
    const event = {
      schemaVersion: '1.0.0',
      eventId: `${mark}-${number}`,
      eventType: number % 5 === 0 ? 'commendation' : 'report_cheating',
      peerId: `peer-${batch % peers}`,
      subject: subjectKeyOf(`player ${number % players}`),
      gameId: 'g',
      severity: 0.5,
      timestamp: now,
    } as const;
    const decided = decideEvent(state, batch % peers, event, now);
    if (!decided.ok) throw new Error(decided.code);
    return applied(state, decided.value, now);
  });
}

/**
 * The state that a start on the folder would serve, as what it says of the old events' players; and whether all old
 * ones have left.
 */
async function readState(dir: string): Promise<{ readonly sums: string; readonly isDone: boolean }> {
  await using log = closing(openLogReader(dir));
  const { state } = recovered(dir, log).follower;
  return { sums: sumsOf(state), isDone: state.retired.seq > batches * batchEvents && !state.retired.open };
}

/** Every pair of a player and a peer that old events are about: count and both sums, to the last bit. */
function sumsOf({ subjects }: GroupState): string {
  const sums: string[] = [];
  for (let player = 0; player < players; player++) {
    const row = subjects.find(subjectOf(`player ${player}`));
    const first = subjects.firstEntry(row);
    for (let entry = first; entry < first + subjects.peerCount(row); entry++) {
      const { entries } = subjects;
      sums.push(
        [player, entries.peer(entry), entries.count(entry), entries.lowering(entry), entries.raising(entry)].join(),
      );
    }
  }
  return sums.join(' ');
}

function filesWithMark(dir: string): string[] {
  return readdirSync(dir, { recursive: true, encoding: 'utf8' })
    .map((name) => join(dir, name))
    .filter((file) => statSync(file).isFile() && readFileSync(file).includes(mark));
}

/** A copy of the folder with old events, from which these leave while new ones come. */
class Leaving {
  readonly #tally: Tally;
  readonly #dir: string;
  /** The sums of the old events, computed before the first of them expired. */
  readonly #sums: string;
  readonly #acknowledged: string[] = [];
  #peer: Peer | null = null;

  constructor(tally: Tally, pristine: string, dir: string, sums: string) {
    this.#tally = tally;
    this.#dir = dir;
    this.#sums = sums;
    rmSync(dir, { recursive: true, force: true });
    cpSync(pristine, dir, { recursive: true });
  }

  /** A node on it, under writers, until `lived` resolves; answers whether all old ones have left then. */
  async live(place: string, lived: (writers: Writers) => Promise<unknown>): Promise<boolean> {
    const node = await startProcess(this.#env);
    try {
      this.#peer ??= await register(node.url);
      const writers = new Writers(node, this.#peer, `new-${place.replaceAll(' ', '-')}`, { connections: () => 4 });
      await lived(writers);
      const ended = await node.kill('SIGKILL');
      if (ended !== 'SIGKILL') this.#tally.break(`${place}: the node ended by itself with ${ended}`);
      await writers.ended;
      this.#acknowledged.push(...writers.events);
    } finally {
      node.child.kill('SIGKILL');
      await node.ended;
    }
    const { sums, isDone } = await readState(this.#dir);
    if (sums !== this.#sums) this.#tally.break(`${place}: what the old events said of players has changed`);
    return isDone;
  }

  /**
   * Lives until all old ones have left, each long enough for something to be acknowledged; false where that never
   * comes.
   */
  async end(): Promise<boolean> {
    for (let life = 0; life < endLivesMax; life++) {
      const place = `the end ${life}`;
      const isDone = await this.live(place, async (writers) => {
        if (!(await writers.isAnswered())) this.#tally.break(`${place}: nothing was acknowledged`);
        await delay(killWithinMs * 2 ** life);
      });
      if (isDone) return true;
    }
    this.#tally.break(`the end: the old events do not leave`);
    return false;
  }

  /** Checks that the files contain nothing of the expired events, and that nothing else is missing. */
  async lookOver(place: string): Promise<void> {
    const say = (what: string) => this.#tally.break(`${place}: ${what}`);
    const node = await startProcess(this.#env);
    const lost = await missing(node.url, this.#peer!, this.#acknowledged);
    if (lost.length > 0) say(`${lost.length} acknowledged events are lost, ${lost[0]} first`);
    const stopped = await node.kill('SIGTERM');
    if (stopped !== 0) say(`the stop ended with ${stopped}`);
    for (const file of filesWithMark(this.#dir)) say(`${file} holds an old event`);
    const report = await verifyInChild(this.#dir, 'full');
    if (!report.ok) say(report.faults.join('; '));
    if ((await readState(this.#dir)).sums !== this.#sums) say('what the old events said of players has changed');
    this.#tally.add('retention runs intact');
    this.#tally.add('acknowledged events', this.#acknowledged.length);
  }

  get #env(): Record<string, string> {
    const fixed = { GROUP_SALT: lifeSalt, RETENTION_DAYS: '1', SNAPSHOT_EVERY: '5000', LOG_LEVEL: 'info' };
    return { ...fixed, DATA_DIR: this.#dir };
  }
}

async function run(rounds: Rounds): Promise<void> {
  const { tally, random } = rounds;
  await inFastFolder(async (root) => {
    const pristine = join(root, 'pristine');
    await fillOld(pristine);
    if (filesWithMark(pristine).length === 0) throw new Error('the search finds no old event where there are some');
    const { sums } = await readState(pristine);
    let leaving: Leaving | null = null;
    for (const round of rounds) {
      leaving ??= new Leaving(tally, pristine, join(root, 'data'), sums);
      const isDone = await leaving.live(`round ${round}`, () => delay(random.below(killWithinMs)));
      tally.add(isDone ? 'kills after a retention run' : 'kills during a retention run');
      if (!isDone) continue;
      await leaving.lookOver(`round ${round}`);
      leaving = null;
    }
    // The removal that the last kill interrupted is completed, too, and its acknowledged writes are checked like the
    // others.
    if (leaving !== null && (await leaving.end())) await leaving.lookOver('the end');
  });
  for (const name of ['retention runs intact', 'acknowledged events']) tally.need(name);
  if (rounds.strict) tally.need('kills during a retention run');
}

export const retire: Fault = {
  name: 'retire',
  summary: 'SIGKILL while old events leave the log; nothing else may, and of them no byte may stay',
  rounds: 300,
  run,
};
