/** The harness with real members of etcd: kills, pauses, a replaced member, and the watch of slots. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { EtcdMembers, noEtcd } from '../../bench/cluster/etcd-members.js';
import { membersOf } from '../../src/node/cluster/cluster-folder.js';
import { EtcdClient } from '../../src/store/etcd/etcd-client.js';
import { closing } from '../support/closing.js';
import { until } from '../support/until.js';
import { clearDatabase, fillDatabase, leadingMember, replaceMember } from './etcd-faults.js';
import { filesWith } from './final-log.js';
import { SlotWatch } from './slot-watch.js';

const missing = noEtcd();
let etcd: EtcdMembers;

const put = (key: string, value: string) => etcd.ctl(etcd.endpoints, ['put', key, value]);
const read = async (endpoints: readonly string[], key: string) =>
  (await etcd.ctl(endpoints, ['get', '--print-value-only', key])).trim();
/** Retries until the remaining members have agreed on a leader. */
const putRetried = (key: string, value: string) =>
  until(() =>
    put(key, value).then(
      () => true,
      () => false,
    ),
  );

if (missing === undefined) {
  test.before(async () => {
    etcd = await EtcdMembers.start({ quotaBytes: 32 * 1024 * 1024 });
  });
  test.after(() => etcd.stop());

  test('the members accept writes while their leader is down, and after it has started again', async () => {
    await until(async () => (await leadingMember(etcd)) !== undefined);
    const leader = (await leadingMember(etcd))!;
    await etcd.member(leader).kill();
    await putRetried('/a', '1');
    etcd.startMember(leader);
    await etcd.healthy();
    assert.is(await read(etcd.endpoints, '/a'), '1');
  });

  test('without a majority the members accept no write', async () => {
    etcd.member(0).pause();
    etcd.member(1).pause();
    const refused = await etcd.ctl([etcd.endpoints[2]!], ['put', '/b', '1']).then(
      () => false,
      () => true,
    );
    assert.ok(refused);
    etcd.member(0).resume();
    etcd.member(1).resume();
    await etcd.healthy();
  });

  test('a member is replaced by one without data, and written keys stay', async () => {
    await put('/c', '1');
    await replaceMember(etcd, 1);
    assert.is(await read([etcd.endpoints[1]!], '/c'), '1');
  });

  test('the watch records each slot with the fence of the leader at that time', async () => {
    const watch = new SlotWatch(etcd.endpoints, '/w/');
    await put('/w/leader', 'one');
    await put('/w/log/000000000001', 'x');
    await etcd.ctl(etcd.endpoints, ['del', '/w/leader']);
    await put('/w/leader', 'two');
    await put('/w/log/000000000002', 'x');
    await until(() => watch.slots.length === 2);
    await watch.close();
    assert.equal(
      watch.slots.map(({ firstSeq }) => firstSeq),
      [1, 2],
    );
    assert.is(watch.fences.length, 2);
    assert.equal(
      watch.slots.map(({ fence }) => fence),
      watch.fences,
    );
  });

  test('the database fills up to a part of its quota, and is cleared again', async () => {
    const filled = await fillDatabase(etcd, '/ballast/', 0.5);
    assert.ok(filled > 0 && (await etcd.dbBytes()) >= 0.4 * etcd.quotaBytes!);
    await clearDatabase(etcd, '/ballast/', filled);
    assert.ok((await etcd.dbBytes()) < 0.2 * etcd.quotaBytes!);
    await put('/after', '1');
  });

  test('the status of the members names the alarm of a full database until it is disarmed', async () => {
    const { endpoints } = etcd;
    await using client = closing(
      new EtcdClient({ endpoints, ca: null, cert: null, key: null, username: null, password: null }),
    );
    const alarms = async () => (await membersOf({ client })).map((member) => member?.alarms);
    assert.equal(await alarms(), [[], [], []]);
    const refused = await fillDatabase(etcd, '/ballast/', 2).catch((error: unknown) => String(error));
    assert.match(String(refused), 'NOSPACE');
    // Each member learns of the alarm by the log of etcd.
    await until(async () => (await alarms()).every((names) => names?.length === 1 && names[0] === 'NOSPACE'));
    await clearDatabase(etcd, '/ballast/', 1);
    await until(async () => (await alarms()).every((names) => names?.length === 0));
  });

  test('the byte search finds the bytes of a key in the files of the members', async () => {
    await put('/searched', 'a-value-to-be-found');
    await etcd.healthy();
    const found = filesWith(etcd.folders, new Map([['it', Buffer.from('a-value-to-be-found')]]));
    assert.ok(found.length >= 3, found.join('\n'));
    assert.equal(filesWith(etcd.folders, new Map([['it', Buffer.from('never written')]])), []);
  });
} else {
  process.stdout.write(`SKIPPED: ${missing}\n`);
}

test.run();
