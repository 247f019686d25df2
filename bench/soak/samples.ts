/**
 * Defines the periodic samples of a soak (memory, files and load), and which stalls of an event loop are the server's
 * own.
 */
import { readdirSync, statSync } from 'node:fs';
import { loadavg } from 'node:os';
import { join } from 'node:path';
import { anonymousMbOf, residentMbOf } from '../process-stats.js';
import type { LoopSample } from '../target.js';

const MB = 1e6;
/** Samples of two event loops count as simultaneous up to this distance. */
const matchWindowMs = 250;

/** Chart and name of each figure of a sample. */
export const charts = {
  residentMb: { chart: 'memory, MB', name: 'resident' },
  /** Memory without files, because the log and the snapshots are mapped into memory. */
  anonymousMb: { chart: 'memory, MB', name: 'resident without files' },
  heapMb: { chart: 'memory, MB', name: 'heap of the main thread' },
  logMb: { chart: 'files, MB', name: 'log' },
  snapshotsMb: { chart: 'files, MB', name: 'snapshots' },
  events: { chart: 'events accepted', name: 'events' },
  commits: { chart: 'turns of the group committed', name: 'commits' },
  machineLoad: { chart: 'load of the machine', name: 'processes that want a core' },
} as const;

export type SampleField = keyof typeof charts;

/** `s`: seconds into the soak. */
export type Sample = Readonly<Record<SampleField | 's', number>>;

/** Samples the node with process `pid`, from the outside and from its metrics at `metricsUrl`. */
export async function sampleOf(s: number, pid: number, dataDir: string, metricsUrl: string): Promise<Sample> {
  const text = await (await fetch(metricsUrl)).text();
  const figure = (name: string) => Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1] ?? Number.NaN);
  const snapshots = readdirSync(dataDir).filter((name) => name.includes('snapshot-'));
  return {
    s,
    residentMb: residentMbOf([pid]),
    anonymousMb: anonymousMbOf(pid),
    heapMb: figure('nodejs_heap_size_used_bytes') / MB,
    logMb: sizeMbOf(join(dataDir, 'log')),
    snapshotsMb: snapshots.reduce((sum, name) => sum + sizeMbOf(join(dataDir, name)), 0),
    events: figure('ptf_events'),
    commits: figure('ptf_commit_duration_seconds_count'),
    machineLoad: loadavg()[0]!,
  };
}

/** Returns the size of an LMDB folder; 0 if it was removed meanwhile, as snapshots are. */
export function sizeMbOf(folder: string): number {
  return (statSync(join(folder, 'data.mdb'), { throwIfNoEntry: false })?.size ?? 0) / MB;
}

/**
 * Returns the samples above `stallMs` during which an idle server was less than half as late. Both lists are ordered by
 * time.
 */
export function ownStalls(node: readonly LoopSample[], idle: readonly LoopSample[], stallMs: number): LoopSample[] {
  let first = 0;
  return node.filter(({ at, max }) => {
    if (max <= stallMs) return false;
    while (first < idle.length && idle[first]!.at < at - matchWindowMs) first++;
    for (let i = first; i < idle.length && idle[i]!.at <= at + matchWindowMs; i++) {
      if (idle[i]!.max >= max / 2) return false;
    }
    return true;
  });
}
