/** A restore checks that the batches of the backup follow each other. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { restoreLog } from '../../../src/group/backup/restore-store.js';
import { DamagedError, type LogReader } from '../../../src/group/ports/storage.js';
import { rejection } from '../../store/log-contract.js';
import { MemoryLog } from '../../support/memory-log.js';
import { everyByte, inPieces, Life, sinkInto, stateOf } from '../life.js';

test('a backup is restored byte for byte, and one that lacks a batch is refused as damaged', async () => {
  const life = await Life.begin();
  for (let i = 0; i < 5; i++) await life.act({ type: 'event', peer: 0, id: `e${i}`, player: 'player 0', severity: 1 });
  const { log } = life.machine;
  const restored = async (backup: LogReader): Promise<Buffer> => {
    const [to, nonce] = [new MemoryLog(), () => Buffer.alloc(16, 9)];
    const stateOfBackup = () => stateOf(backup);
    await restoreLog({ backup, stateOfBackup, old: null, sink: sinkInto(to), nonce, progress: () => {} });
    return everyByte(to);
  };
  assert.equal(await restored(log), everyByte(log));
  const from: LogReader['from'] = (...range) => log.from(...range).filter(({ firstSeq }) => firstSeq !== 4);
  const error = await rejection(restored({ ...inPieces(log, 100), from }));
  assert.instance(error, DamagedError);
  assert.match(String(error), 'the log breaks off after record 3');
});

test.run();
