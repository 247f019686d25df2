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
import type { GroupState } from '../../src/core/state.js';
import { keyOf } from '../../src/core/tables/event-columns.js';
import type { Outcome } from '../../src/errors.js';
import type { LogWriter } from '../../src/group/ports/storage.js';
import { type Follower, lastSeqOf, recover } from '../../src/group/recovery/recovery.js';
import { limits } from '../../src/limits.js';
import { acquireFolder } from '../../src/store/ownership/owner.js';
import { LmdbSnapshotStore } from '../../src/store/snapshots/lmdb-snapshots.js';
import { eventId, fixedTimestamp, gameId, idSeeds, playerId } from '../load/requests.js';
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
  const writer = await acquireFolder(task.dir);
  const snapshots = new LmdbSnapshotStore(task.dir);
  const { follower } = recover(writer, snapshots, salt, lastSeqOf(writer))!;
  const { state } = follower;
  const nowMs = Date.now();
  let batch = new BatchWriter();
  const add = (record: Parameters<BatchWriter['add']>[0]): void => {
    batch.add(record);
    state.apply(record, nowMs);
  };
  const commit = async (): Promise<void> => {
    const full = batch;
    if (full.count === 0) return;
    batch = new BatchWriter();
    const firstSeq = state.lastSeq - full.count + 1;
    const sealed = full.seal(firstSeq, nowMs, Buffer.alloc(NONCE_BYTES, 1), follower.chain);
    await writer.append({ firstSeq, bytes: sealed.bytes }, []);
    follower.chain = sealed.chain;
  };
  for (const record of registrations(task, state, nowMs)) add(record);
  await commit();
  const total = countEntries(task);
  const snapshotAt = task.snapshotAfter === null ? -1 : Math.round(total * task.snapshotAfter);
  let events = 0;
  for (const [player, entry] of arrivals(task)) {
    add(eventOf(task, state, player, entry, events++, nowMs));
    if (batch.count >= limits.turnEvents) await commit();
    if (events === snapshotAt) {
      await commit();
      await writeSnapshot(snapshots, follower, writer.epoch);
    }
    if (events % 10_000 === 0) onProgress(events, total);
  }
  await commit();
  await writer.close();
  return events;
}

function* registrations(population: Population, state: GroupState, nowMs: number) {
  const bounds = { peersMax: population.peers, erasureQuotaPerDay: 0, erasureMode: 'peer' } as const;
  for (const [i, { peerId, apiKey }] of credentials(population).entries()) {
    const peer = { peerId, peerName: `Bench ${i}`, gameIds: [gameId], keyDigest: hash('sha256', apiKey, 'hex') };
    const decision = decideRegistration(state, bounds, { ...peer, by: 'bench' }, nowMs);
    demand(decision.outcome);
    yield* decision.records;
  }
}

function eventOf(task: FillTask, state: GroupState, player: number, entry: number, number: number, nowMs: number) {
  const peer = state.peers.at(peerOfEntry(task, player, entry));
  const submission = {
    schemaVersion: '1.0.0',
    eventId: eventId(task.seed + idSeeds.fill, number),
    eventType: lowers(task, player, entry) ? 'report_cheating' : 'commendation',
    peerId: peer.peerId,
    subject: keyOf(pseudonymise(playerId(player), task.salt, 'privacy-first')!),
    gameId,
    severity: 0.5,
    timestamp: timestampMs,
  } as const;
  return demand(decideEvent(state, peer.index, submission, nowMs));
}

async function writeSnapshot(snapshots: LmdbSnapshotStore, { state, chain }: Follower, epoch: LogWriter['epoch']) {
  const header = {
    version: SNAPSHOT_VERSION,
    seq: state.lastSeq,
    chain: Buffer.from(chain).toString('hex'),
    digest: stateDigest(state),
    epoch,
  };
  await snapshots.write(header, snapshotBlocks(state));
  for (const seq of snapshots.list().slice(1)) await snapshots.remove(seq);
}

const timestampMs = Date.parse(fixedTimestamp);

function demand<T>(outcome: Outcome<T>): T {
  if (!outcome.ok) throw new Error(`the rules refused a command that fills the folder: ${outcome.code}`);
  return outcome.value;
}
