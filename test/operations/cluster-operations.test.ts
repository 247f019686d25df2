/** The answers of a node of a cluster to the operator, and the refusals of one that serves its group alone. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { granted, type Outcome, refused } from '../../src/errors.js';
import { type ClusterOperations, type ClusterStatus, unknownStalenessMs } from '../../src/group/cluster-api.js';
import { asksOf, operations } from '../../src/operations/table.js';
import { recordedGroup, settings } from '../operator/recorded-group.js';

const epoch = '1970-01-01T00:00:00.000Z';
const node = { url: 'http://n', role: 'follower', durable: 8, snapshot: 5, version: '1.0.0', format: 1, started: 0 };
const member = { endpoint: 'http://m', leads: true, version: '3.6.0', dbBytes: 4e6, dbBytesInUse: 1.26e6, alarms: [] };
const status: ClusterStatus = {
  role: 'leader',
  appliedSeq: 7,
  stalenessMs: 1.2,
  leaseMs: 4_999.9,
  floorSeq: 5,
  takeovers: 2,
  nodeId: 'n1',
  clusterId: 'c1',
  leader: { nodeId: 'n1', since: 0, fence: 'f' },
  lastTakeover: { at: 0, nodeId: 'n1', cause: 'start' },
  nodes: [
    { ...node, nodeId: 'n1', applied: 9, reason: null },
    { ...node, nodeId: 'n2', applied: 6, reason: 'disk_low' },
  ],
  refused: [{ nodeId: 'n3', url: 'http://x', reason: 'another secret' }],
  members: [
    { ...member, healthy: true },
    { ...member, leads: false, healthy: true, alarms: ['NOSPACE'] },
    { ...member, healthy: false },
  ],
  scrubbed: { at: 0, complete: true, detail: 'all done', marker: null },
};

/** Asks a node, of a cluster unless `replaced` is null, and notes what the cluster and the group are asked. */
function asking(replaced: Partial<ClusterOperations> | null = {}) {
  const asked: unknown[] = [];
  const note =
    <T>(value: T) =>
    async (...values: readonly unknown[]): Promise<Outcome<T>> => {
      asked.push(...values.filter((one) => typeof one !== 'function'));
      return granted(value);
    };
  const cluster: ClusterOperations = {
    status: note(status),
    stepDown: note({ nodeId: 'n1' }),
    scrub: note({ complete: true, detail: 'all done', marker: 'ab' }),
    forget: note(null),
    ...replaced,
  };
  const clusterOperations = replaced === null ? null : cluster;
  const { group } = recordedGroup(1, { clusterOperations, changeSetting: note(null) });
  return { ask: asksOf({ group, version: '1', pseudonymise: () => null }), asked };
}

async function linesOf(value: ClusterStatus): Promise<string[]> {
  const answer = await asking({ status: async () => granted(value) }).ask('cluster-status', {});
  if (!answer.ok) throw new Error(answer.code);
  return operations['cluster-status'].ptf[0]!.show(answer.value, Number.POSITIVE_INFINITY).map((line) =>
    line.replace(/ {2,}/g, ' | '),
  );
}

test('the state of a cluster is printed with its nodes, those refused, and the members of etcd', async () => {
  assert.equal(await linesOf(status), [
    'cluster | c1',
    'this node | n1, leader',
    `leader | n1 since ${epoch} (fence f)`,
    'applied seq | 7',
    'staleness | 2 ms',
    'lease | 4999 ms left',
    'floor seq | 5',
    'takeovers | 2 by this node',
    `last takeover | ${epoch} by n1: start`,
    `last scrub | ${epoch}: all done`,
    'refused | n3 at http://x: another secret',
    '',
    'node | role | applied | lag | snapshot | version | url | reason',
    'n1 | follower | 9 | 0 | 5 | 1.0.0 | http://n',
    'n2 | follower | 6 | 3 | 5 | 1.0.0 | http://n | disk_low',
    '',
    'etcd member | state | version | database in use',
    'http://m | leads | 3.6.0 | 1.3 MB of 4.0 MB',
    'http://m | follows, NOSPACE | 3.6.0 | 1.3 MB of 4.0 MB',
    'http://m | DOES NOT ANSWER | 3.6.0',
  ]);
  const empty = await linesOf({ ...status, leader: null, lastTakeover: null, scrubbed: null, nodes: [] });
  assert.equal([empty[2], ...empty.slice(8, 10)], ['leader | none', 'last takeover | none', 'last scrub | none']);
  const silent = await linesOf({ ...status, scrubbed: undefined, nodes: [] });
  assert.is(silent[9], 'last scrub | unknown, since etcd does not answer');
  assert.is(silent[11], 'nodes unknown, since etcd does not answer:');
  assert.is((await linesOf({ ...status, stalenessMs: unknownStalenessMs }))[4], 'staleness | unknown');
});

test('the lag of a node is counted from the newest record that any node applied', async () => {
  const lines = (await linesOf({ ...status, appliedSeq: 20 })).join('\n');
  assert.match(lines, 'n1 | follower | 9 | 11 |');
  assert.match(lines, 'n2 | follower | 6 | 14 |');
});

test('a scrub is asked for with the settings that were given alone', async () => {
  const { ask, asked } = asking();
  await ask('cluster-scrub', {});
  await ask('cluster-scrub', { snapshot_count: 1 });
  await ask('cluster-scrub', { max_wals: 1 });
  assert.equal(asked, [{}, { snapshotEntries: 1 }, { files: 1 }]);
});

test('a node steps down, and one that is gone is forgotten, by name', async () => {
  const { ask, asked } = asking();
  const [down, forgotten] = [await ask('cluster-step-down', {}), await ask('cluster-forget', { node_id: 'n2' })];
  assert.ok(down.ok && forgotten.ok);
  assert.equal([down.value, forgotten.value, asked], [{ node_id: 'n1' }, { node_id: 'n2' }, ['n2']]);
  assert.equal(operations['cluster-step-down'].ptf[0]!.show(down.value, 80), [
    'node n1 no longer leads; another node takes over, or this one again in 10 s if no other lives',
  ]);
  assert.equal(operations['cluster-forget'].ptf[0]!.show(forgotten.value, 80), ['nothing is waiting for node n2']);
  const refusing = asking({ forget: async () => refused('peer_not_active') });
  assert.equal(await refusing.ask('cluster-forget', { node_id: 'n2' }), refused('peer_not_active'));
});

test('a setting is parsed and changed on all nodes', async () => {
  const { ask, asked } = asking();
  const set = await ask('group-set', { name: 'RETENTION_DAYS', value: '365', by: 'alice' });
  assert.ok(set.ok);
  assert.equal(asked, ['RETENTION_DAYS', 365, 'operator:alice']);
  assert.equal(operations['group-set'].ptf[0]!.show(set.value, 80), [
    'RETENTION_DAYS is 365 on all nodes; set the variable on each machine, too',
  ]);
  const wrong = await ask('group-set', { name: 'RETENTION_DAYS', value: 'long' });
  assert.ok(!wrong.ok && wrong.code === 'invalid_parameter' && /^RETENTION_DAYS \w/.test(wrong.text ?? ''));
  assert.is(asked.length, 3);
});

test('the settings in force are shown, each under the name of its variable, with a cluster and without', async () => {
  for (const { ask } of [asking(), asking(null)]) {
    const answer = await ask('group-show', {});
    assert.ok(answer.ok);
    assert.equal(answer.value, settings);
    const lines = operations['group-show'].ptf[0]!.show(answer.value, 80);
    assert.equal(
      lines.map((line) => line.split(/ +/)),
      Object.entries(settings).map(([name, value]) => [name, String(value)]),
    );
  }
});

test('a node that serves its group alone refuses what needs a cluster', async () => {
  const { ask, asked } = asking(null);
  for (const [name, body] of [
    ['cluster-status', {}],
    ['cluster-step-down', {}],
    ['cluster-scrub', {}],
    ['cluster-forget', { node_id: 'n2' }],
    ['group-set', { name: 'RETENTION_DAYS', value: '365' }],
  ] as const) {
    const answer = await ask(name, body);
    assert.is(answer.ok ? 'answered' : answer.code, 'invalid_parameter', name);
    assert.match(answer.ok ? '' : (answer.text ?? ''), 'CLUSTER=none', name);
  }
  assert.equal(asked, []);
});

test.run();
