/** Heads of every form are refused or answered alike, with the fast path and without it. */
import fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { startFace, type TestFace } from '../http/face.js';
import { headTexts } from './heads.js';
import { converse } from './wire.js';

const runs = Number(process.env.FUZZ_HEADS ?? 3_000);
/** The same heads each time, so that a change is what fails; another seed draws others. */
const seed = Number(process.env.FUZZ_SEED ?? 20_261_125);

/** Returns the answer without the parts that vary from answer to answer. */
async function answerOf({ port }: TestFace, text: string): Promise<string> {
  const answer = await converse(port, [Buffer.from(text, 'latin1')]);
  return answer.replace(/^(?:Date|X-Request-Id): .*\r\n/gim, '');
}

test(`heads drawn from the grammar are read alike on both ways (seed ${seed})`, async () => {
  process.stdout.write(`NOTE: heads: FUZZ_SEED=${seed} FUZZ_HEADS=${runs} npm test -- fuzz/heads\n`);
  const faces = await Promise.all([true, false].map((fastPath) => startFace({ fastPath })));
  const [fast, koa] = faces as [TestFace, TestFace];
  try {
    await fc.assert(
      fc.asyncProperty(headTexts, async (text) => {
        const [here, there] = await Promise.all([answerOf(fast, text), answerOf(koa, text)]);
        assert.is(here, there, JSON.stringify(text));
      }),
      { numRuns: runs, seed },
    );
  } finally {
    await Promise.all(faces.map((face) => face.drain()));
  }
});

test.run();
