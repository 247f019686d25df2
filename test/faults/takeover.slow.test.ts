/** The short form of `npm run faults -- takeover`. */
import { test } from 'uvu';
import { testShort } from './short.js';
import { takeover } from './takeover.js';

testShort(takeover, 300);
test.run();
