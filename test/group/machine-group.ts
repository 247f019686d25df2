/** A group over the actor of `machine.ts`, whose pool answers at once from the log and a replica in memory. */
import type { GroupLoop } from '../../src/group/actor/loop.js';
import type { Resolve } from '../../src/group/actor/turn.js';
import type { GroupIdentity } from '../../src/group/api.js';
import { createGroup, type Group, type GroupDeps } from '../../src/group/group.js';
import * as listing from '../../src/group/listing/listing.js';
import type { GroupPool } from '../../src/group/ports/pool.js';
import { Replica } from '../../src/group/replica/replica.js';
import { salt } from '../support/given.js';
import type { Machine } from './machine.js';

const identity: GroupIdentity = { groupId: 'test', identityMode: 'privacy-first', environment: 'dev' };

export interface MachineGroup {
  readonly group: Group;
  /** Holds the fields that reads of health and status use, and the pool; a test may change them. */
  readonly loop: { -readonly [K in keyof GroupLoop]?: unknown } & { readonly pool: Partial<GroupPool> };
  readonly machine: Machine;
}

export function groupOn(machine: Machine): MachineGroup {
  const replica = new Replica(machine.log, machine.snapshots, salt);
  const pool: Partial<GroupPool> = {
    records: async (seqs) => listing.readRecords(new listing.RecordReader(machine.log), seqs),
    chain: async (query) => listing.readChain(new listing.RecordReader(machine.log), query),
    repeats: async (query) => listing.readRepeats(new listing.RecordReader(machine.log), query),
    list: async (query) => listing.listEvents(new listing.RecordReader(machine.log), query),
    pairEvents: async (query) => listing.readPairEvents(new listing.RecordReader(machine.log), query),
    verdicts: async (upTo, at) => replica.verdicts(upTo, at),
    simulate: async (work, onProgress) => replica.simulate(work, onProgress),
  };
  let asked = 0;
  const loop = {
    pool,
    get actor() {
      return machine.actor;
    },
    get state() {
      return machine.actor.state;
    },
    snapshots: machine.snapshots,
    log: { epoch: 7 },
    weights: { signals: null, basedOnSeq: 0, computedAt: null as number | null },
    clockGuard: { clockAhead: false },
    disk: { low: false, use: null, minBytes: 5 },
    failed: false,
    draining: false,
    stalled: false,
    logIsFull: false,
    admit({ command, token, events }: Parameters<GroupLoop['admit']>[0]) {
      const name = `asked ${asked++}`;
      machine.offer(name, command, events);
      void machine.work().then(() => (token as Resolve)(machine.answers.get(name)!));
      return undefined;
    },
  };
  let drawn = 0;
  const deps = {
    identity,
    current: { loop },
    check: { status: { running: false, checkedSeq: 0, endedAt: null, faults: [] } },
    cluster: null,
    inForce: () => ({ RETENTION_DAYS: 7 }),
    clock: { now: () => machine.now },
    random: { bytes: (count: number) => Buffer.alloc(count, ++drawn), uuid: () => `id-${++drawn}` },
  };
  return { group: createGroup(deps as unknown as GroupDeps), loop, machine };
}
