/** A short form of the comparison of both computations of peer weights. */
import { test } from 'uvu';
import { testServiceFit } from './service-fit.js';

testServiceFit({ seed: 21, small: 50, large: 1, copied: 80 });
test.run();
