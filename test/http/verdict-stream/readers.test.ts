/** All readers of the stream together, of a feed that tells what the test says. */
import { Writable } from 'node:stream';
import { setImmediate as turnOfLoop } from 'node:timers/promises';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { FeedListener, ToldMark } from '../../../src/group/verdict-feed.js';
import { StreamReaders } from '../../../src/http/verdict-stream/readers.js';
import { groupDouble } from '../group-double.js';

const mark: ToldMark = { seq: 7, asOf: 0, generation: '0123456789ab', position: 3 };

/** Takes what is written at once. */
class Heard extends Writable {
  text = '';

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.text += chunk.toString();
    done();
  }
}

test('every reader is told of an erasure at once: it is answered as soon as the feed goes on', async () => {
  let listener: FeedListener | undefined;
  const listen = (one: FeedListener) => {
    listener = one;
    return () => undefined;
  };
  const verdicts = { mark, erasedAt: 0, listen, recent: () => [], walk: async () => null };
  const readers = new StreamReaders({
    group: groupDouble({ verdicts }),
    clock: { now: () => 0 },
    metrics: { requestAnswered() {}, idRefused() {}, streamReaders() {}, streamTold() {}, streamEnded() {} },
  });
  const all = [new Heard(), new Heard(), new Heard()];
  for (const to of all) readers.open(to, { lastEventId: '7-0123456789ab.3', peer: null, keyDigest: '' });
  await turnOfLoop();
  const told = listener?.told([{ subject: 'ab'.repeat(32), text: null }], { ...mark, position: 4 });
  for (const { text } of all) assert.match(text, /^data: \{"changes":\[\{"subject_hash":"(?:ab){32}","gone":true\}\]/m);
  await told;
  readers.close();
});

test.run();
