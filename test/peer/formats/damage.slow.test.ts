/** Lists of every format that end after any of their bytes. */
import { test } from 'uvu';
import { testCuts } from './cuts.js';

testCuts(1);

test.run();
