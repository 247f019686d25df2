/** The short form of `npm run faults -- retire`. */
import { test } from 'uvu';
import { endAll } from '../support/process.js';
import { retire } from './retire.js';
import { testShort } from './short.js';

testShort(retire, 6);
test.after(endAll);
test.run();
