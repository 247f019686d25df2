import { setImmediate as turnOfLoop } from 'node:timers/promises';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { SignedBase } from '../../../src/group/ports/pool.js';
import { SignatureBatches } from '../../../src/http/signing/signature-batches.js';
import { limits } from '../../../src/limits.js';

const present = () => false;

const signed = (base: string): SignedBase => ({ base, publicKey: '', signature: new Uint8Array(64) });

/** A thread that finds every base valid but `forged`, batch by batch as the test lets it. */
function thread() {
  const sent: string[][] = [];
  const ends: ((error?: Error) => void)[] = [];
  const batches = new SignatureBatches((batch) => {
    sent.push(batch.map(({ base }) => base));
    return new Promise((resolve, reject) => {
      ends.push((error) => (error === undefined ? resolve(batch.map(({ base }) => base !== 'forged')) : reject(error)));
    });
  });
  const end = async (error?: Error) => {
    ends.shift()!(error);
    await turnOfLoop();
    await turnOfLoop();
  };
  return { sent, batches, end };
}

test('one batch is with the thread at a time, and takes a bounded number of holders in turn', async () => {
  const { sent, batches, end } = thread();
  const results: Promise<boolean>[] = [];
  const add = (holder: string, base: string) => results.push(batches.verify(holder, signed(base), present));
  for (let i = 0; i < limits.signaturesInBatch + 2; i++) add('many', 'm');
  add('one', '1');
  await turnOfLoop();
  add('two', '2');
  add('two', 'forged');
  await turnOfLoop();
  const first = ['m', '1', ...new Array(limits.signaturesInBatch - 2).fill('m')];
  assert.equal(sent, [first], 'the second batch waits for the first');
  await end();
  assert.equal(sent, [first, ['m', '2', 'm', 'forged', 'm']]);
  await end();
  assert.equal(await Promise.all(results), [...new Array(limits.signaturesInBatch + 4).fill(true), false]);
  assert.is(sent.length, 2);
});

test('who has left costs no verification, and a batch of such callers only does not reach the thread', async () => {
  const { sent, batches, end } = thread();
  const gone = Array.from({ length: limits.signaturesInBatch }, () => batches.verify('gone', signed('g'), () => true));
  assert.equal(new Set(await Promise.all(gone)), new Set([false]));
  assert.equal(sent, []);
  const mixed = [batches.verify('gone', signed('g'), () => true), batches.verify('here', signed('h'), present)];
  await turnOfLoop();
  assert.equal(sent, [['h']]);
  await end();
  assert.equal(await Promise.all(mixed), [false, true]);
});

test('a batch that fails rejects for its own callers, and the next one is verified', async () => {
  const { sent, batches, end } = thread();
  const failed = batches.verify('one', signed('a'), present).catch((error: Error) => error.message);
  await turnOfLoop();
  const later = batches.verify('one', signed('b'), present);
  await end(new Error('the thread died'));
  assert.is(await failed, 'the thread died');
  await end();
  assert.is(await later, true);
  assert.equal(sent, [['a'], ['b']]);
});

test.run();
