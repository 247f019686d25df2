/** The long form of the comparison of both computations of peer weights. */
import { test } from 'uvu';
import { testServiceFit } from './service-fit.js';

testServiceFit({ seed: 11, small: 1_000, large: 5, copied: 300 });
test.run();
