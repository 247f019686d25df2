/** The moves of a data folder into and out of a cluster that are refused, and what they write. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import {
  beginLogAfter,
  type EmptyCluster,
  exportData,
  importData,
  MoveRefusedError,
  refuseBehind,
  refuseOtherGroup,
} from '../../../src/node/cluster/cluster-data.js';
import { loadConfig } from '../../../src/node/config.js';
import { readMark, writeMark } from '../../../src/store/files/folder-files.js';
import { rejection } from '../../store/log-contract.js';
import { startTestNode } from '../../support/node.js';
import { temporaryFolder } from '../../support/process.js';

const mark = { cluster_id: 'c', node_id: 'n' };

test('a folder of another history is neither exported unawares nor imported, and keeps its mark', async () => {
  const dir = temporaryFolder();
  await (await startTestNode({ DATA_DIR: dir })).close();
  const outcome = loadConfig({ DATA_DIR: dir }, () => undefined);
  assert.ok(outcome.ok);
  if (!outcome.ok) return;
  const { config } = outcome;
  const exporting = await rejection(exportData(config, dir));
  assert.instance(exporting, MoveRefusedError);
  assert.match(String(exporting), 'belongs to no cluster');
  const diverged = { ...mark, diverged: true } as const;
  await writeMark(dir, diverged);
  const refused = await rejection(exportData(config, dir));
  assert.instance(refused, MoveRefusedError);
  assert.match(String(refused), /another history .* export the folder of another node/);
  assert.match(String(await rejection(importData(config, dir))), 'already belongs to a cluster');
  assert.equal(readMark(dir), diverged);
  writeFileSync(join(dir, '.joining'), '');
  assert.match(String(await rejection(exportData(config, dir))), 'is being replaced: start its node first');
});

test('a folder begins the log of an empty cluster alone, and keeps its mark only if the log was begun', async () => {
  const dir = temporaryFolder();
  const calls: unknown[] = [];
  const leases = new Set<string>();
  const empty: EmptyCluster['log'] = {
    grantLease: async (lease, ttlS) => void calls.push(['grant', leases.add(lease).size, ttlS]),
    revokeLease: async (lease) => void calls.push(['revoke', leases.add(lease).size]),
    hasSecret: async () => true,
    putNode: async () => null,
    campaign: async () => ({ revision: '7' }),
    clusterId: async () => null,
    begin: async (...args) => void calls.push(args),
  };
  const begin = (log: Partial<EmptyCluster['log']>) =>
    beginLogAfter(9, { log: { ...empty, ...log }, dir, nodeId: 'n1' });
  const refused: readonly [Partial<EmptyCluster['log']>, RegExp][] = [
    [{ hasSecret: async () => false }, /CLUSTER_SECRET differs/],
    [{ putNode: async (node) => node }, /node n1 is running: stop it first/],
    [{ campaign: async () => null }, /a node already leads this cluster/],
    [{ clusterId: async () => 'c' }, /etcd already has a log under ETCD_PREFIX/],
    [{ begin: () => Promise.reject(new Error('etcd')) }, /^Error: etcd$/],
  ];
  for (const [log, text] of refused) {
    assert.match(String(await rejection(begin(log))), text);
    assert.is(readMark(dir), null);
  }
  calls.length = 0;
  leases.clear();
  const { cluster_id: id, last_seq } = await begin({});
  assert.equal(calls, [
    ['grant', 1, 10],
    [{ revision: '7' }, id, 9],
    ['revoke', 1],
  ]);
  assert.equal([last_seq, readMark(dir)], [9, { cluster_id: id, node_id: 'n1' }]);
});

test('a folder that lacks records of its cluster is not exported, unless that cluster is gone', async () => {
  const slot = { firstSeq: 10, bytes: new Uint8Array(), redactions: [] };
  const exported = (id: string, trimmed: number, slots: readonly (typeof slot)[] = []) => {
    const view = async (...args: unknown[]) => {
      assert.equal(args, [10, 1]);
      return { leader: null, nodes: [], format: 1, revision: '1', trimmed, slots };
    };
    return refuseBehind(9, { log: { clusterId: async () => id, view }, dir: 'folder', clusterId: 'c' });
  };
  await exported('c', 9);
  await exported('another', 10, [slot]);
  const text = 'folder ends at record 9, and the cluster has more records: let its node catch up first';
  assert.match(String(await rejection(exported('c', 10))), text);
  assert.match(String(await rejection(exported('c', 9, [slot]))), text);
});

test('a folder is imported for its own group alone, with its kinds of player ids', async () => {
  const dir = temporaryFolder();
  const kinds = { PLAYER_ID_KINDS: 'steam,minecraft' };
  const salt = 'a salt of sixteen bytes';
  await (await startTestNode({ DATA_DIR: dir, GROUP_SALT: salt, ...kinds })).close();
  const faultOf = async (env: Record<string, string>, of = salt) => {
    const outcome = loadConfig({ DATA_DIR: dir, ...env }, () => undefined);
    if (!outcome.ok) return outcome.problems.map(({ text }) => text).join();
    return refuseOtherGroup(outcome.config, of, dir).then(
      () => null,
      (error: unknown) => `${error}`,
    );
  };
  assert.is(await faultOf(kinds), null);
  assert.match(`${await faultOf({})}`, 'PLAYER_ID_KINDS is unset, but steam,minecraft in the group');
  assert.match(`${await faultOf({ ...kinds, GROUP_ID: 'other' })}`, 'GROUP_ID is other, but');
  assert.match(`${await faultOf(kinds, 'another salt of 16 bytes')}`, 'GROUP_SALT is not the salt');
});

test.run();
