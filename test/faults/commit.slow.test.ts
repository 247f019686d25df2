/** The short form of `npm run faults -- commit`. */
import { test } from 'uvu';
import { commit } from './commit.js';
import { testShort } from './short.js';

testShort(commit, 12);
test.run();
