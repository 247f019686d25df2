/** The short form of `npm run faults -- cluster`: ten kills and pauses of leaders, and nothing is lost. */
import { test } from 'uvu';
import { cluster } from '../faults/cluster.js';
import { testShort } from '../faults/short.js';
import { noEtcd } from './etcd.js';

const missing = noEtcd();
if (missing === undefined) testShort(cluster, 10);
else process.stdout.write(`SKIPPED: ${missing}\n`);
test.run();
