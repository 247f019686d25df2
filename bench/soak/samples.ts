/** What a soak looks at every few seconds: memory, files, the machine's load. */
import { readdirSync, statSync } from 'node:fs';
import { loadavg } from 'node:os';
import { join } from 'node:path';
import { anonymousMbOf, residentMbOf } from '../process-stats.js';

export interface Sample {
  /** Seconds into the soak. */
  readonly s: number;
  readonly residentMb: number;
  /** Of it, what is no file's: the log and the snapshots are mapped into memory. */
  readonly anonymousMb: number;
  /** Of the main thread's JavaScript heap, in use. */
  readonly heapMb: number;
  readonly logMb: number;
  readonly snapshotsMb: number;
  /** Events ever accepted. */
  readonly events: number;
  /** Turns of the group that were committed. */
  readonly commits: number;
  /** Processes that wanted a core, over the last minute. */
  readonly machineLoad: number;
}

const MB = 1e6;

/** One sample of the node with the process `pid`, from the outside and from its metrics at `metricsUrl`. */
export async function sampleOf(s: number, pid: number, dataDir: string, metricsUrl: string): Promise<Sample> {
  const text = await (await fetch(metricsUrl)).text();
  const figure = (name: string) => Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1] ?? Number.NaN);
  return {
    s,
    residentMb: residentMbOf([pid]),
    anonymousMb: anonymousMbOf(pid),
    heapMb: figure('nodejs_heap_size_used_bytes') / MB,
    logMb: logMbOf(dataDir),
    snapshotsMb: foldersOf(dataDir).reduce((sum, folder) => sum + sizeOf(folder), 0) / MB,
    events: figure('ptf_events'),
    commits: figure('ptf_commit_duration_seconds_count'),
    machineLoad: loadavg()[0]!,
  };
}

/** Of the log's file. */
export function logMbOf(dataDir: string): number {
  return sizeOf(join(dataDir, 'log')) / MB;
}

function foldersOf(dataDir: string): string[] {
  return readdirSync(dataDir)
    .filter((name) => name.includes('snapshot-'))
    .map((name) => join(dataDir, name));
}

/** 0 where it went meanwhile, as snapshots do. */
function sizeOf(folder: string): number {
  return statSync(join(folder, 'data.mdb'), { throwIfNoEntry: false })?.size ?? 0;
}
