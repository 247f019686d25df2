/** The alarm of a full database, as real members of etcd name it. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { EtcdMembers, noEtcd } from '../../bench/cluster/etcd-members.js';
import { membersOf } from '../../src/node/cluster/cluster-folder.js';
import { closing } from '../support/closing.js';
import { until } from '../support/until.js';
import { clearDatabase, fillDatabase } from './etcd-faults.js';

const missing = noEtcd();

if (missing === undefined) {
  test('the status of the members names the alarm of a full database until it is disarmed', async () => {
    const etcd = await EtcdMembers.start({ quotaBytes: 32 * 1024 * 1024 });
    try {
      await using client = closing(etcd.client());
      const alarms = async () => (await membersOf({ client })).map((member) => member?.alarms);
      assert.equal(await alarms(), [[], [], []]);
      const refused = await fillDatabase(etcd, '/ballast/', 2).catch((error: unknown) => String(error));
      assert.match(String(refused), 'NOSPACE');
      // Each member learns of the alarm by the log of etcd.
      await until(async () => (await alarms()).every((names) => names?.length === 1 && names[0] === 'NOSPACE'));
      await clearDatabase(etcd, '/ballast/', 1);
      await until(async () => (await alarms()).every((names) => names?.length === 0));
    } finally {
      await etcd.stop();
    }
  });
} else {
  process.stdout.write(`SKIPPED: ${missing}\n`);
}

test.run();
