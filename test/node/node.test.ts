/** How a node starts and ends: one of a cluster whose etcd is silent, and one whose store fails. */
import { pino } from 'pino';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { freePort } from '../../bench/free-ports.js';
import { OwnerLostError } from '../../src/group/ports/storage.js';
import { limits } from '../../src/limits.js';
import { loadConfig } from '../../src/node/config.js';
import { type NodePorts, type RunningNode, startNode } from '../../src/node/node.js';
import { StartEndedError, StartRefusedError } from '../../src/node/startup.js';
import { writeMark } from '../../src/store/files/folder-files.js';
import { acquireFolder, ownFolder } from '../../src/store/ownership/owner.js';
import { thisProcess } from '../../src/store/ownership/owner-record.js';
import { withBounds } from '../sim/profile.js';
import { rejection } from '../store/log-contract.js';
import { closing } from '../support/closing.js';
import { temporaryFolder } from '../support/process.js';
import { until } from '../support/until.js';

const member = {
  ...{ CLUSTER: 'etcd', ETCD_ENDPOINTS: 'http://127.0.0.1:1', NODE_ID: 'n1', ADVERTISE_URL: 'http://127.0.0.1:2' },
  ...{ CLUSTER_SECRET: 'a secret of at least 32 bytes, for tests', GROUP_SALT: 'a salt of sixteen bytes' },
};

/** Bounds with which the calls to an etcd that is silent end soon. */
const hasty = { etcdTryMs: 20, etcdCallMs: 40, clusterEndMs: 50 };

function start(env: Record<string, string>, ports: Partial<NodePorts> = {}): Promise<RunningNode> {
  const outcome = loadConfig({ PORT: '0', ...env }, () => undefined);
  if (!outcome.ok) throw new Error(JSON.stringify(outcome.problems));
  const log = pino({ level: 'silent' });
  return startNode(outcome.config, { log, onFatal: () => undefined, ...ports });
}

test('a node of a cluster answers while it waits for etcd, and is gone once that wait is ended', () =>
  withBounds(hasty, async () => {
    const port = await freePort();
    const ending = new AbortController();
    const dir = temporaryFolder();
    const starting = rejection(start({ ...member, PORT: `${port}`, DATA_DIR: dir }, { ending: ending.signal }));
    const ask = (path: string) => fetch(`http://127.0.0.1:${port}/api/v1/${path}`);
    let answer: Response | null = null;
    await until(async () => {
      answer = await ask('health').catch(() => null);
      return answer !== null;
    });
    assert.is(answer!.status, 503);
    const { details } = (await answer!.json()) as { details: unknown };
    assert.equal(details, { reason: 'recovering', role: 'joining' });
    assert.is((await ask('peers')).status, 503);
    ending.abort();
    assert.instance(await starting, StartEndedError);
    assert.instance(await rejection(ask('health')), TypeError);
  }));

test('a node of a cluster waits for nothing on a folder that another node owns', async () => {
  const dir = temporaryFolder();
  const owner = await acquireFolder(dir);
  const refused = await rejection(start({ ...member, DATA_DIR: dir }, { ending: AbortSignal.abort() }));
  assert.instance(refused, StartRefusedError);
  await owner.close();
});

test('a node of a cluster whose etcd is silent serves the data that it has, and closes', async () => {
  const dir = temporaryFolder();
  const alone = await start({ GROUP_SALT: member.GROUP_SALT, DATA_DIR: dir });
  const { lastSeq } = alone.group.health();
  await alone.close();
  await writeMark(dir, { cluster_id: 'c', node_id: 'n1' });
  await withBounds({ ...hasty, etcdOwnStartMs: 1 }, async () => {
    const node = await start({ ...member, ALLOW_STALE_READS: 'true', DATA_DIR: dir });
    const health = await (await fetch(`http://127.0.0.1:${node.address.port}/api/v1/health`)).json();
    const { status, last_seq, cluster } = health as { status: string; last_seq: number; cluster: { role: string } };
    assert.equal([status, last_seq, cluster.role], ['ok', lastSeq, 'follower']);
    // The timers of a node that closes let its process end.
    const alive = setInterval(() => undefined, 1_000);
    await node.close().finally(() => clearInterval(alive));
  });
  await using next = closing(await acquireFolder(dir));
  assert.is(next.last()?.firstSeq, lastSeq);
});

test('a node that serves its group alone has the settings of its variables in force', async () => {
  const env = { PEERS_MAX: '7', HALF_LIFE_DAYS: '0', ERASURE_MODE: 'own', RETENTION_DAYS: '90', PRIOR_BAD_SHARE: '.1' };
  await using node = closing(await start({ ...env, DATA_DIR: temporaryFolder() }));
  assert.equal(node.group.settings(), {
    PRE_TRUSTED_PEERS: '',
    HALF_LIFE_DAYS: 0,
    BAN_HALF_LIFE_DAYS: 180,
    PRIOR_BAD_SHARE: 0.1,
    NEW_PEER_DAYS: 1,
    RETENTION_DAYS: 90,
    PEERS_MAX: 7,
    ERASURE_MODE: 'own',
    ERASURE_QUOTA_PER_DAY: 100,
  });
});

test('a node whose store fails reports why, and can then be abandoned at once', async () => {
  const failures: unknown[] = [];
  const lost = new OwnerLostError('another node has the log');
  const onFatal = (error: unknown) => void failures.push(error);
  let isLost = false;
  const own = async (dir: string) => {
    const owned = await ownFolder(dir, thisProcess(), limits, onFatal);
    const openLog = async () => {
      const writer = await owned.openLog();
      const append = writer.append.bind(writer);
      writer.append = (...batches) => (isLost ? Promise.reject(lost) : append(...batches));
      return writer;
    };
    return { openLog, release: () => owned.release() };
  };
  await using node = closing(await start({ DATA_DIR: temporaryFolder() }, { onFatal, ownFolder: own }));
  isLost = true;
  void node.group.register({ peerName: 'p', gameIds: ['g'] }, 'test');
  await until(() => failures.length > 0);
  assert.equal(failures, [lost]);
  await node.abandon();
});

test.run();
