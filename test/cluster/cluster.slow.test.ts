/** The short form of `npm run faults -- cluster`: ten kills and pauses of leaders break no rule. */
import { test } from 'uvu';
import { noEtcd } from '../../bench/cluster/etcd-members.js';
import { cluster } from '../faults/cluster.js';
import { testShort } from '../faults/short.js';

const missing = noEtcd();
if (missing === undefined) testShort(cluster, 10);
else process.stdout.write(`SKIPPED: ${missing}\n`);
test.run();
