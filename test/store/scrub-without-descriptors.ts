/**
 * Entry of a process with few descriptors: owns the folder in its argument, scrubs its log with none of them left, and
 * then again.
 */
import { closeSync, openSync } from 'node:fs';
import { acquireFolder } from '../../src/store/ownership/owner.js';

const writer = await acquireFolder(process.argv[2]!);
for (let seq = 1; seq <= 30; seq++) await writer.append({ firstSeq: seq, bytes: Buffer.alloc(3_000) }, []);
await writer.append(null, [{ firstSeq: 7, bytes: Buffer.alloc(2_500) }]);

const taken: number[] = [];
try {
  for (;;) taken.push(openSync('/dev/null', 'r'));
} catch {
  // None is left.
}
const outcome = await writer.scrub().then(
  () => 'done',
  (error: Error) => error.name,
);
for (const descriptor of taken) closeSync(descriptor);
process.stdout.write(`without: ${outcome}\n`);
await writer.append({ firstSeq: 100, bytes: Buffer.alloc(3_000) }, []);
await writer.scrub();
process.stdout.write('with: done\n');
await writer.close();
