/**
 * Fills the folder of a stopped node: registers peers with known keys and appends the events of a population, by the
 * service's own rules and formats. A million events take seconds, because no request is made.
 */
import { hash } from 'node:crypto';
import { pseudonymise } from '../../src/core/hashing/pseudonym.js';
import { BatchWriter, NONCE_BYTES } from '../../src/core/records/batch.js';
import { decideRegistration } from '../../src/core/rules/decide-peer.js';
import { SNAPSHOT_VERSION, snapshotBlocks } from '../../src/core/snapshot/snapshot.js';
import { stateDigest } from '../../src/core/snapshot/state-digest.js';
import { keyOf } from '../../src/core/tables/event-columns.js';
import type { Outcome } from '../../src/errors.js';
import type { LogWriter } from '../../src/group/ports/storage.js';
import { type Follower, lastSeqOf, recover } from '../../src/group/recovery/recovery.js';
import { limits } from '../../src/limits.js';
import { claimFolder } from '../../src/store/ownership/owner.js';
import { LmdbSnapshotStore } from '../../src/store/snapshots/lmdb-snapshots.js';
import { eventId, fixedTimestamp, gameId, playerId } from '../load/requests.js';
import type { OnProgress } from '../progress.js';
import { decideEvent } from './decide-event.js';
import { arrivals, countEntries, credentials, lowers, type Population, peerOfEntry } from './population.js';

export interface FillTask extends Population {
  readonly dir: string;
  /** `GROUP_SALT` of the node that formed the group. */
  readonly salt: string;
  /** Share of the events, 0 to 1, that a snapshot covers. Null: no snapshot is written. */
  readonly snapshotAfter: number | null;
}

/** Resolves to the number of events. */
export async function fill(task: FillTask, onProgress: OnProgress): Promise<number> {
  const salt = Buffer.from(task.salt);
  const writer = await claimFolder(task.dir);
  const snapshots = new LmdbSnapshotStore(task.dir);
  const filler = new Filler(writer, recover(writer, snapshots, salt, lastSeqOf(writer))!.follower);
  await filler.register(task);
  const total = countEntries(task);
  const snapshotAt = task.snapshotAfter === null ? -1 : Math.round(total * task.snapshotAfter);
  let events = 0;
  for (const [player, entry] of arrivals(task)) {
    filler.event(task, player, entry, events++, task.salt);
    if (filler.isFull) await filler.commit();
    if (events === snapshotAt) await filler.snapshot(snapshots);
    if (events % 10_000 === 0) onProgress(events, total);
  }
  await filler.commit();
  await writer.close();
  return events;
}

class Filler {
  readonly #writer: LogWriter;
  readonly #follower: Follower;
  readonly #now = Date.now();
  #batch = new BatchWriter();

  constructor(writer: LogWriter, follower: Follower) {
    this.#writer = writer;
    this.#follower = follower;
  }

  get isFull(): boolean {
    return this.#batch.count >= limits.turnEvents;
  }

  async register(population: Population): Promise<void> {
    const { state } = this.#follower;
    const bounds = { peersMax: population.peers, erasureQuotaPerDay: 0, erasureMode: 'peer' } as const;
    for (const [i, { peerId, apiKey }] of credentials(population).entries()) {
      const peer = { peerId, peerName: `Bench ${i}`, gameIds: [gameId], keyDigest: hash('sha256', apiKey, 'hex') };
      const decision = decideRegistration(state, bounds, { ...peer, by: 'bench' }, this.#now);
      demand(decision.outcome);
      for (const record of decision.records) {
        this.#batch.add(record);
        state.apply(record, this.#now);
      }
    }
    await this.commit();
  }

  event(population: Population, player: number, entry: number, number: number, salt: string): void {
    const { state } = this.#follower;
    const peer = state.peers.at(peerOfEntry(population, player, entry));
    const submission = {
      schemaVersion: '1.0.0',
      eventId: eventId(population.seed + fillSeed, number),
      eventType: lowers(population, player, entry) ? 'report_cheating' : 'commendation',
      peerId: peer.peerId,
      subject: keyOf(pseudonymise(playerId(player), salt, 'privacy-first')!),
      gameId,
      severity: 0.5,
      timestamp: timestampMs,
    } as const;
    const event = demand(decideEvent(state, peer.index, submission, this.#now));
    this.#batch.add(event);
    state.apply(event, this.#now);
  }

  async commit(): Promise<void> {
    const batch = this.#batch;
    if (batch.count === 0) return;
    this.#batch = new BatchWriter();
    const firstSeq = this.#follower.state.lastSeq - batch.count + 1;
    const sealed = batch.seal(firstSeq, this.#now, Buffer.alloc(NONCE_BYTES, 1), this.#follower.chain);
    await this.#writer.append({ firstSeq, bytes: sealed.bytes }, []);
    this.#follower.chain = sealed.chain;
  }

  async snapshot(snapshots: LmdbSnapshotStore): Promise<void> {
    await this.commit();
    const { state, chain } = this.#follower;
    const header = {
      version: SNAPSHOT_VERSION,
      seq: state.lastSeq,
      chain: Buffer.from(chain).toString('hex'),
      digest: stateDigest(state),
      epoch: this.#writer.epoch,
    };
    await snapshots.write(header, snapshotBlocks(state));
    for (const seq of snapshots.list().slice(1)) await snapshots.remove(seq);
  }
}

/** Seed of the event ids. Differs from the seeds of the load, so that the ids differ too. */
const fillSeed = 2003;
const timestampMs = Date.parse(fixedTimestamp);

function demand<T>(outcome: Outcome<T>): T {
  if (!outcome.ok) throw new Error(`the rules refused a command that fills the folder: ${outcome.code}`);
  return outcome.value;
}
