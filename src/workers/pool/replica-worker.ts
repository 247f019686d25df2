/**
 * Runs the replica as a worker: one `Replica` over the folder's files, at the lowest priority, so that the main thread
 * never waits for it.
 */
import { setPriority } from 'node:os';
import { type MessagePort, workerData } from 'node:worker_threads';
import type { Simulation } from '../../core/scoring/simulation.js';
import type { VerdictCounts } from '../../core/scoring/verdict-counts.js';
import type {
  FeedPiece,
  FeedWork,
  RedactionPiece,
  RedactionWork,
  SimulationWork,
  SnapshotMade,
  WalkWork,
  WeightsComputed,
} from '../../group/ports/pool.js';
import { Replica } from '../../group/replica/replica.js';
import type { ChangeWalk } from '../../group/verdict-changes.js';
import { openLogReader } from '../../store/log/lmdb-log.js';
import { LmdbSnapshotStore } from '../../store/snapshots/lmdb-snapshots.js';
import type { ReplicaFolder } from './piscina-pool.js';
import { workerYield } from './worker-yield.js';

const PRIORITY = 19;

// On Linux this sets the priority of the calling thread only. Elsewhere it would apply to the whole node.
if (process.platform === 'linux') setPriority(0, PRIORITY);

const { dir, salt, scoring, ending } = workerData as ReplicaFolder;
const log = openLogReader(dir);
const mustEnd = (epoch: number) => Atomics.load(ending, 0) === 1 || log.ownerEpoch() !== epoch;
const replica = new Replica(log, new LmdbSnapshotStore(dir, mustEnd), salt, scoring, workerYield());

export async function snapshot(task: { readonly upTo: number; readonly epoch: number }): Promise<SnapshotMade | null> {
  // The duration of a snapshot, without loading, decides whether another one fits into a shutdown.
  replica.follow(task.upTo);
  const started = performance.now();
  const made = await replica.snapshot(task.upTo, task.epoch);
  return made && { ...made, ms: performance.now() - started };
}

export function redact(work: RedactionWork): RedactionPiece {
  return replica.redact(work);
}

export function follow(upTo: number): void {
  replica.follow(upTo);
}

export function weights(task: { readonly upTo: number; readonly at: number }): WeightsComputed {
  return replica.weights(task.upTo, task.at);
}

export function verdicts(task: { readonly upTo: number; readonly at: number }): VerdictCounts {
  return replica.verdicts(task.upTo, task.at);
}

export function publishChanges(work: FeedWork): FeedPiece {
  return replica.publishChanges(work);
}

export function walkChanges(work: WalkWork): ChangeWalk | 'forgotten' | null {
  return replica.walkChanges(work);
}

export function endFeed(): void {
  replica.endFeed();
}

export function simulate(task: { readonly work: SimulationWork; readonly progress: MessagePort }): Simulation {
  const { work, progress } = task;
  try {
    return replica.simulate(work, (done, total) => progress.postMessage([done, total]));
  } finally {
    progress.close();
  }
}

/** The first task. Resolves once this file is loaded and its environment open. */
export function loaded(): void {}

/** The last task. Closes the environment at once, without waiting for anything. */
export function close(): Promise<void> {
  return log.close();
}
