/** How the steps of a removal are carried out, repeated and reported. */
import { setImmediate as turnOfLoop } from 'node:timers/promises';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { ScrubDeferredError } from '../../../src/group/ports/storage.js';
import type { RemovalProcess } from '../../../src/group/removal/removal-process.js';
import { type RemovalDeps, RemovalSteps } from '../../../src/group/removal/removal-steps.js';
import { limits } from '../../../src/limits.js';

const work = { type: 'removal', events: [], chains: [], erasures: [1], tagKey: '' } as const;

/** Steps that note each call, and whose redaction, snapshots and scrub may fail. */
function noted(more: { readonly [K in 'follow' | 'redact' | 'drop' | 'scrub']?: () => Promise<unknown> } = {}) {
  const calls: string[] = [];
  const site = { ended: false, closed: false };
  const repeats: { readonly act: () => void; readonly ms: number }[] = [];
  const note = (call: string) => void calls.push(call);
  const call =
    <T>(name: string, value: T) =>
    () => {
      note(name);
      return value;
    };
  const retire = async () => note('retire');
  const deps = {
    pool: {
      follow: more.follow ?? (() => Promise.resolve().then(() => note('follow'))),
      redact: more.redact ?? (async () => ({})),
      retire,
    },
    log: { scrub: more.scrub ?? (async () => note('scrub')) },
    timers: { elapsed: () => 0 },
    observer: { workDone: (what: string, isDone: boolean) => note(`${what} ${isDone}`) },
    publishErasures: () => Promise.resolve().then(() => note('published')),
    onFailure: (what: string, error: unknown) => note(`${what}: ${(error as Error).message}`),
  } as unknown as RemovalDeps;
  const removal = {
    redacted: call('redacted', []),
    failed: call('failed', []),
    again: call('again', []),
    scrubbed: call('scrubbed', undefined),
    snapshotsDropped: call('dropped', undefined),
  } as unknown as RemovalProcess<null>;
  const steps = new RemovalSteps<null>(deps, {
    removal,
    storedSeq: () => 1,
    dropSnapshots: more.drop === undefined ? async () => note('drop') : async () => void (await more.drop!()),
    report: () => note('report'),
    ended: () => site.ended,
    closed: () => site.closed,
    later: (act, ms) => repeats.push({ act, ms }),
    fail: (error) => note(`fatal: ${(error as Error).message}`),
  });
  const callsOf = async (act: () => void) => {
    calls.length = 0;
    act();
    await turnOfLoop();
    return [...calls];
  };
  return { steps, site, repeats, callsOf };
}

test('an erasure fails with the replica, which withdrawals do not need, and retention asks for its own work', async () => {
  const { steps, callsOf } = noted({ follow: () => Promise.reject(new Error('no replica')) });
  const erasing = await callsOf(() => steps.begin({ type: 'redact', work }));
  assert.equal(erasing, ['redaction false', 'redaction: no replica', 'failed', 'report']);
  const withdrawing = await callsOf(() => steps.begin({ type: 'redact', work: { ...work, erasures: [] } }));
  assert.equal(withdrawing, ['redaction true', 'redacted', 'report']);
  const retention = { type: 'retention', after: 0, upTo: 1, durable: 1 } as const;
  const retiring = await callsOf(() => steps.begin({ type: 'redact', work: retention }));
  assert.equal(retiring, ['retire', 'redaction true', 'redacted', 'report']);
});

test('a redaction that keeps failing is repeated ever more seldom, up to a longest delay', async () => {
  const { steps, repeats, callsOf } = noted({ redact: () => Promise.reject(new Error('damaged')) });
  for (let attempt = 0; attempt < 8; attempt++) await callsOf(() => steps.begin({ type: 'redact', work }));
  const { workRetryMs: first, redactionRetryMaxMs: longest } = limits;
  assert.equal(
    repeats.map(({ ms }) => ms),
    [...[1, 2, 4, 8, 16, 32].map((times) => times * first), longest, longest],
  );
});

test('erased players leave the replica and stream before the snapshots, then the replica reads on', async () => {
  const { steps, site, callsOf } = noted();
  const dropped = ['follow', 'published', 'drop', 'follow', 'dropped', 'report'];
  assert.equal(await callsOf(() => steps.begin({ type: 'drop_snapshots' })), dropped);
  assert.equal(await callsOf(() => void steps.forgetErased(() => false)), ['follow', 'published']);
  site.ended = true;
  const kept = await callsOf(() => steps.begin({ type: 'drop_snapshots' }));
  assert.equal(kept, ['follow', 'published'], 'they stay if the node ends');
});

test('a step that fails is repeated after a while, unless the node is closed', async () => {
  const { workRetryMs } = limits;
  for (const [type, what, more] of [
    ['drop_snapshots', 'removing snapshots', { drop: () => Promise.reject(new Error('busy')) }],
    ['scrub', 'overwriting free space', { scrub: () => Promise.reject(new ScrubDeferredError('busy')) }],
  ] as const) {
    const { steps, site, repeats, callsOf } = noted(more);
    const failed = await callsOf(() => steps.begin({ type }));
    assert.equal([failed.at(-1), repeats.map(({ ms }) => ms)], [`${what}: busy`, [workRetryMs]]);
    const again = await callsOf(() => repeats[0]!.act());
    assert.equal([again, repeats.length], [failed, 2]);
    site.closed = true;
    assert.not((await callsOf(() => steps.begin({ type }))).includes(`${what}: busy`));
    assert.is(repeats.length, 2);
  }
  const { steps, callsOf, repeats } = noted({ scrub: () => Promise.reject(new Error('the disk is gone')) });
  assert.equal(await callsOf(() => steps.begin({ type: 'scrub' })), ['fatal: the disk is gone']);
  assert.equal(repeats, []);
});

test('a redaction is reported to a removal that goes on, and a scrub makes the next failure a first one', async () => {
  let isFailing = false;
  const redact = () => (isFailing ? Promise.reject(new Error('damaged')) : Promise.resolve({}));
  const { steps, site, repeats, callsOf } = noted({ redact });
  const begin = () => steps.begin({ type: 'redact', work });
  assert.equal(await callsOf(begin), ['follow', 'redaction true', 'redacted', 'report']);
  site.ended = true;
  assert.equal(await callsOf(begin), ['follow', 'redaction true']);
  [site.ended, isFailing] = [false, true];
  for (let i = 0; i < 2; i++)
    assert.equal(await callsOf(begin), ['follow', 'redaction false', 'redaction: damaged', 'failed', 'report']);
  assert.equal(await callsOf(() => repeats[0]!.act()), ['again', 'report']);
  assert.equal(await callsOf(() => steps.begin({ type: 'scrub' })), ['scrub', 'scrubbed', 'report']);
  await callsOf(begin);
  assert.equal(
    repeats.map(({ ms }) => ms / limits.workRetryMs),
    [1, 2, 1],
  );
  site.closed = true;
  assert.equal([await callsOf(begin), repeats.length], [['follow'], 3]);
});

test.run();
