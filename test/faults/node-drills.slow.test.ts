/** The short forms of the drills on nodes of their own processes: `npm run faults -- NAME` is the long form. */
import { test } from 'uvu';
import { endAll } from '../support/process.js';
import { power } from './power.js';
import { PowerDisk } from './power-disk.js';
import { retire } from './retire.js';
import { testShort } from './short.js';
import { stop } from './stop.js';
import { stream } from './stream.js';

const probe = PowerDisk.mount(8);
probe?.unmount();
if (probe === null)
  process.stdout.write('SKIPPED: a file system of its own cannot be mounted here, so no power is cut\n');
else testShort(power, 4);
testShort(retire, 6);
testShort(stop, 5);
testShort(stream, 2);
test.after(endAll);
test.run();
