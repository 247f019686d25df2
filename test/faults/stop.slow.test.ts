/** The short form of `npm run faults -- stop`. */
import { test } from 'uvu';
import { endAll } from '../support/process.js';
import { testShort } from './short.js';
import { stop } from './stop.js';

testShort(stop, 5);
test.after(endAll);
test.run();
