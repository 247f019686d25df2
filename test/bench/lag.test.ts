/** An open loop tells how late it was itself, and rests where it can. */
import { createServer, type Socket } from 'node:net';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { type Driven, type DriveOptions, drive, type Kind } from '../../bench/load/drive.js';
import { Latencies } from '../../bench/load/latency.js';
import { lagNote } from '../../bench/windows.js';

const sockets = new Set<Socket>();
const server = createServer((socket) => {
  sockets.add(socket);
  socket.on('error', () => undefined);
  socket.on('data', () => setTimeout(() => socket.write('HTTP/1.1 204 No Content\r\n\r\n'), answerMs));
});
let answerMs = 0;

test.before(() => new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve)));
test.after(() => {
  for (const socket of sockets) socket.destroy();
  server.close();
});

/** Request number `heldAt` holds the generator. */
function driven(more: Partial<DriveOptions>, heldAt = -1): Promise<Driven> {
  const request = (i: number) => {
    for (const endMs = performance.now() + 60; i === heldAt && performance.now() < endMs; );
    return 'GET / HTTP/1.1\r\n\r\n';
  };
  const kind: Kind = { name: 'some', expects: [204], request };
  const { port } = server.address() as { port: number };
  const workload = { kinds: [kind] };
  return drive({ host: '127.0.0.1', port, connections: 8, seconds: 0.3, rate: 100, workload, first: 0, ...more });
}

test('a delay of the load generator itself counts as lag', async () => {
  // Request 5 is sent as it is built; 6, 10 ms later by the clock of the load, waits for the 50 ms that are left.
  const { maxUs } = (await driven({}, 5)).lag.summary();
  assert.ok(maxUs > 45_000, `${maxUs} us`);
});

test('a wait for a free connection is not counted as lag, and a closed loop has no lag', async () => {
  answerMs = 20;
  try {
    const { lag, sent } = await driven({ rate: 200, connections: 1 });
    assert.ok(sent > 1);
    assert.is(lag.count, 1);
    assert.is((await driven({ rate: null })).lag.count, 0);
  } finally {
    answerMs = 0;
  }
});

test('an open loop of a few hundred requests a second sleeps between them', async () => {
  const sleep = globalThis.setTimeout;
  let sleeps = 0;
  globalThis.setTimeout = ((work: () => void, ms: number) => {
    // The others of the test end the drive, or answer.
    if (ms >= 1 && ms < 2) sleeps++;
    return sleep(work, ms);
  }) as typeof setTimeout;
  try {
    await driven({ rate: 350 });
  } finally {
    globalThis.setTimeout = sleep;
  }
  // Out of 105 times; a busy machine misses some.
  assert.ok(sleeps >= 10, `${sleeps} sleeps`);
});

test('a lag is reported if it exceeds 1 ms and a tenth of the latency', () => {
  const of = (ms: number) => {
    const latencies = new Latencies();
    for (let i = 0; i < 100; i++) latencies.record(ms);
    return latencies;
  };
  const note = (lagMs: number, latencyMs: number) =>
    lagNote('reads', [{ lag: of(lagMs), kinds: [{ latencies: of(latencyMs) }] as unknown as Driven['kinds'] }]);
  assert.is(
    note(2, 10),
    'reads: the load generator was late by 2.0 ms at the 99th percentile, of 10.0 ms: these latencies include its delay',
  );
  assert.is(note(0.9, 1), undefined);
  assert.is(note(2, 30), undefined);
  assert.is(lagNote('reads', [{ lag: new Latencies(), kinds: [] }]), undefined);
});

test.run();
