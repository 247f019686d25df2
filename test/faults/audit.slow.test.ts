/** The short form of `npm run faults -- audit`. */
import { test } from 'uvu';
import { audit } from './audit.js';
import { testShort } from './short.js';

testShort(audit, 500);
test.run();
