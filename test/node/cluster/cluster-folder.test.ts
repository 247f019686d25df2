/** The shared log that a node of a cluster opens from its variables, and the status of the members of etcd. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { membersOf, openEtcdLog, settingsOf } from '../../../src/node/cluster/cluster-folder.js';
import { loadConfig } from '../../../src/node/config.js';
import { StartRefusedError } from '../../../src/node/startup.js';

const variables = {
  ...{ CLUSTER: 'etcd', ETCD_ENDPOINTS: 'http://127.0.0.1:1,http://127.0.0.1:3', NODE_ID: 'n1', GROUP_ID: 'arena' },
  ...{ CLUSTER_SECRET: 'a secret of at least 32 bytes, for tests', GROUP_SALT: 'a salt of sixteen bytes' },
  ...{ ADVERTISE_URL: 'http://127.0.0.1:2' },
};

function configOf(more: Record<string, string> = {}) {
  const outcome = loadConfig({ ...variables, ...more }, () => undefined);
  if (!outcome.ok) throw new Error(JSON.stringify(outcome.problems));
  return outcome.config;
}

test('the keys of a group are under its own prefix, or under that of the configuration', () => {
  for (const [more, prefix] of [
    [{}, '/ptf/arena/'],
    [{ ETCD_PREFIX: '/games/' }, '/games/'],
  ] as const) {
    const log = openEtcdLog(configOf(more));
    assert.ok(String(log.keys.leader).startsWith(prefix));
    log.client.close();
  }
});

test('an unreadable certificate file is named, and a missing required setting is refused', () => {
  for (const name of ['ETCD_CA_FILE', 'ETCD_CERT_FILE', 'ETCD_KEY_FILE'] as const) {
    const config = { ...configOf(), etcdCaFile: null, etcdCertFile: null, etcdKeyFile: null };
    const member = { ETCD_CA_FILE: 'etcdCaFile', ETCD_CERT_FILE: 'etcdCertFile', ETCD_KEY_FILE: 'etcdKeyFile' }[name];
    assert.throws(
      () => openEtcdLog({ ...config, [member]: '/none/pem' }),
      (error: Error) =>
        error instanceof StartRefusedError && error.message.startsWith(`${name}: /none/pem cannot be read`),
    );
  }
  const config = configOf();
  for (const name of ['nodeId', 'advertiseUrl', 'clusterSecret', 'salt', 'etcdEndpoints'] as const) {
    assert.throws(() => settingsOf({ ...config, [name]: null }), /lacks a required setting/);
  }
});

test('the status of a member has its own alarms once each, and is null if it does not answer', async () => {
  const status = async (at: number) => {
    if (at === 1) throw new Error('no answer');
    const errors = ['memberID:1 alarm:NOSPACE ', 'memberID:2 alarm:NOSPACE ', 'alarm:CORRUPT', 'no leader'];
    const header = { member_id: at === 0 ? '5' : '6' };
    return { leader: '5', header, version: '3.5.0', dbSize: '20', dbSizeInUse: '10', errors: at === 0 ? errors : [] };
  };
  const endpoints = ['a', 'b', 'c'];
  const base = { version: '3.5.0', dbBytes: 20, dbBytesInUse: 10 };
  assert.equal(await membersOf({ client: { endpoints, status } } as unknown as Parameters<typeof membersOf>[0]), [
    { endpoint: 'a', leads: true, ...base, alarms: ['NOSPACE', 'CORRUPT'] },
    null,
    { endpoint: 'c', leads: false, ...base, alarms: [] },
  ]);
});

test.run();
