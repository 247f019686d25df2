/** The short form of `npm run faults -- flips`. */
import { test } from 'uvu';
import { flips } from './flips.js';
import { testShort } from './short.js';

testShort(flips, 200);
test.run();
