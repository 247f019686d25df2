/**
 * Entry point of the process that `open-elsewhere.ts` starts: opens the log of the data folder in its argument, and
 * exits.
 */
import { argv } from 'node:process';
import { openLogReader } from '../log/lmdb-log.js';

await openLogReader(argv[2] ?? '').close();
