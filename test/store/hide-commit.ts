/**
 * Entry of a process that sets the number of the newest commit, which LMDB keeps in memory that processes share, back
 * by one in the log of the folder in its arguments: what a process does that opens the log while a commit ends.
 */
import { closeSync, openSync, readFileSync, readSync, writeSync } from 'node:fs';
import { join } from 'node:path';

// Offset in `MDB_txninfo` after its magic and format, and in the two `MDB_meta` after the headers of their pages.
const SHARED_AT = 8;
const NUMBER_BYTES = 8;
const META_AT = [24 + 128, 4_096 + 24 + 128];

const folder = join(process.argv[2]!, 'log');
const data = readFileSync(join(folder, 'data.mdb'));
const newest = Math.max(...META_AT.map((at) => Number(data.readBigUInt64LE(at))));
const descriptor = openSync(join(folder, 'lock.mdb'), 'r+');
const number = Buffer.alloc(NUMBER_BYTES);
readSync(descriptor, number, 0, NUMBER_BYTES, SHARED_AT);
if (Number(number.readBigUInt64LE()) !== newest)
  throw new Error('the number of the newest commit does not stand there');
number.writeBigUInt64LE(BigInt(newest - 1));
writeSync(descriptor, number, 0, NUMBER_BYTES, SHARED_AT);
closeSync(descriptor);
