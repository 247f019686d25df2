/** The short forms of the drills on a store or a node in this process: `npm run faults -- NAME` is the long form. */
import { test } from 'uvu';
import { audit } from './audit.js';
import { commit } from './commit.js';
import { erase } from './erase.js';
import { flips } from './flips.js';
import { testShort } from './short.js';
import { takeover } from './takeover.js';

testShort(audit, 500);
testShort(commit, 12);
testShort(erase, 12);
testShort(flips, 200);
testShort(takeover, 300);
test.run();
