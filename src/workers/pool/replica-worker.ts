/** Runs the replica as a worker, at the lowest priority, so that the main thread never waits for it. */
import { constants, setPriority } from 'node:os';
import { type MessagePort, workerData } from 'node:worker_threads';
import type { FeedWork, RetentionWork, SimulationWork, SnapshotMade, WalkWork } from '../../group/ports/pool.js';
import { Replica } from '../../group/replica/replica.js';
import { limits } from '../../limits.js';
import { openLogReader } from '../../store/log/lmdb-log.js';
import { LmdbSnapshotStore } from '../../store/snapshots/lmdb-snapshots.js';
import type { ReplicaFolder } from './piscina-pool.js';
import { workerYield } from './worker-yield.js';

// On Linux this sets the priority of the calling thread only. Elsewhere it would apply to the whole node.
if (process.platform === 'linux') setPriority(0, constants.priority.PRIORITY_LOW);

const { dir, salt, scoring, ending } = workerData as ReplicaFolder;
const log = openLogReader(dir, { readMs: limits.lowPriorityReadMs });
const mustEnd = (epoch: number) => Atomics.load(ending, 0) === 1 || log.ownerEpoch() !== epoch;
const replica = new Replica(log, new LmdbSnapshotStore(dir, mustEnd), salt, scoring, workerYield());

export async function snapshot(task: { readonly upTo: number; readonly epoch: number }): Promise<SnapshotMade | null> {
  // The duration of a snapshot, without loading, decides whether another one fits into a shutdown.
  replica.follow(task.upTo);
  const started = performance.now();
  const made = await replica.snapshot(task.upTo, task.epoch);
  return made && { ...made, ms: performance.now() - started };
}

export const retire = (work: RetentionWork) => replica.retire(work);
/** Returns nothing: what the replica returns would be copied to the main thread. */
export const follow = (upTo: number): void => void replica.follow(upTo);
export const weights = ({ upTo, at }: Pick<SimulationWork, 'upTo' | 'at'>) => replica.weights(upTo, at);
export const verdicts = ({ upTo, at }: Pick<SimulationWork, 'upTo' | 'at'>) => replica.verdicts(upTo, at);
export const publishChanges = (work: FeedWork) => replica.publishChanges(work);
export const walkChanges = (work: WalkWork) => replica.walkChanges(work);
export const endFeed = () => replica.endFeed();

export function simulate({ work, progress }: { readonly work: SimulationWork; readonly progress: MessagePort }) {
  return replica.simulate(work, (done, total) => progress.postMessage([done, total]));
}

/** The first task. Resolves once this file is loaded and its environment open. */
export function loaded(): void {}

/** The last task. Closes the environment at once, without waiting for anything. */
export function close(): Promise<void> {
  return log.close();
}
