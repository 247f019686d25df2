/** The in-memory log keeps the port's contract, and its faults do what they say. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { type AppendFault, MemoryLog } from '../support/memory-log.js';
import { batchOf, rejection, testLog } from './log-contract.js';

testLog('memory log', async () => {
  const log = new MemoryLog();
  return {
    writer: async () => log.acquire(),
    takeOver: async () => log.acquire(),
    reader: () => log,
    end: async () => {},
  };
});

test('a refused append writes nothing, and one whose answer is lost is in the log', async () => {
  const faults: AppendFault[] = ['ok', 'refuse', 'lose'];
  const log = new MemoryLog((append) => faults[append] ?? 'ok');
  const writer = log.acquire();
  await writer.append(batchOf(1), []);
  assert.ok((await rejection(writer.append(batchOf(2), []))) instanceof Error);
  assert.is(log.last()?.firstSeq, 1);
  assert.ok((await rejection(writer.append(batchOf(3), []))) instanceof Error);
  assert.is(log.last()?.firstSeq, 3);
});

test.run();
