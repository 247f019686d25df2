/** A copy of a log that goes on meanwhile: it is the log as of one record, whatever is erased while it is made. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { stateDigest } from '../../../src/core/snapshot/state-digest.js';
import { MemoryLog } from '../../support/memory-log.js';
import { MemorySnapshotStore } from '../../support/memory-snapshots.js';
import { Random } from '../../support/random.js';
import { verifyStore } from '../../support/verify-store.js';
import { copyLog, drawn, inPieces, Life, sinkInto, stateOf } from '../life.js';

const SEEDS = 60;

test('a copy made during events, withdrawals and erasures verifies, with the state of its last record', async () => {
  let rewritten = 0;
  for (let seed = 0; seed < SEEDS; seed++) {
    const random = new Random(seed);
    const life = await Life.begin();
    const draw = drawn(random);
    const digests = new Map<number, string>();
    const step = async () => {
      await life.act(draw());
      digests.set(life.machine.actor.durableSeq, stateDigest(life.machine.actor.state));
    };
    for (let i = 0; i < 40; i++) await step();
    let meanwhile = 30;
    const copy = new MemoryLog();
    const sink = sinkInto(copy, async () => {
      for (let i = random.below(4); i > 0 && meanwhile > 0; i--, meanwhile--) await step();
    });
    const replace = sink.replace.bind(sink);
    sink.replace = async (batches) => {
      rewritten += batches.length;
      await replace(batches);
    };
    const pieces = inPieces(life.machine.log, 1 + random.below(8));
    const { lastSeq, chain } = await copyLog(pieces, sink, () => undefined);
    const head = { lastSeq, chain: Buffer.from(chain).toString('hex') };
    assert.equal(verifyStore(copy, new MemorySnapshotStore(), head, 'full').faults, [], `seed ${seed}`);
    assert.is(stateDigest(stateOf(copy)), digests.get(lastSeq), `seed ${seed}`);
  }
  assert.ok(rewritten > SEEDS, `only ${rewritten} batches were rewritten under a copy`);
});

test.run();
