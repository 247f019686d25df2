/** The short form of `npm run faults -- erase`. */
import { test } from 'uvu';
import { erase } from './erase.js';
import { testShort } from './short.js';

testShort(erase, 12);
test.run();
