/** The short form of `npm run faults -- stream`. */
import { test } from 'uvu';
import { endAll } from '../support/process.js';
import { testShort } from './short.js';
import { stream } from './stream.js';

testShort(stream, 2);
test.after(endAll);
test.run();
