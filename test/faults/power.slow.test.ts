/** The short form of `npm run faults -- power`. */
import { test } from 'uvu';
import { endAll } from '../support/process.js';
import { power } from './power.js';
import { PowerDisk } from './power-disk.js';
import { testShort } from './short.js';

const probe = PowerDisk.mount(8);
probe?.unmount();
if (probe === null) {
  process.stdout.write('SKIPPED: a file system of its own cannot be mounted here, so no power is cut\n');
  test('power is cut where a file system can be mounted', () => undefined);
} else testShort(power, 4);

test.after(endAll);
test.run();
