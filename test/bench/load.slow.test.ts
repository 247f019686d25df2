import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { connectionsTo, type Driven, type DriveOptions, drive, type Kind } from '../../bench/load/drive.js';
import { at, Latencies } from '../../bench/load/latency.js';
import {
  batchKind,
  eventKind,
  hashedIds,
  idSeeds,
  matchKind,
  mixture,
  playerOfEvent,
  type Site,
  scoreKind,
  timestampOf,
} from '../../bench/load/requests.js';
import { lagNote } from '../../bench/windows.js';

const site = {
  seed: 7,
  players: 100,
  peers: [
    { peerId: 'p', apiKey: 'k' },
    { peerId: 'q', apiKey: 'l' },
  ],
};
const plain = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';

/** A server that answers each request as `answer` says; `requests` are those that it got. */
async function serving(answer: (socket: Socket, number: number) => void = (socket) => socket.write(plain)) {
  const requests: string[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('data', (chunk) => {
      requests.push(chunk.toString());
      answer(socket, requests.length);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    ...(server.address() as { port: number }),
    requests,
    sockets,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}

function textOf(request: string | Uint8Array): string {
  return typeof request === 'string' ? request : Buffer.from(request).toString('latin1');
}

/** Drives the server; by default in a closed loop over two connections for a tenth of a second. */
async function driveAt({ port }: { port: number }, more: Partial<DriveOptions> = {}) {
  const workload = { kinds: [scoreKind(site)] };
  const usual = { host: '127.0.0.1', port, connections: 2, seconds: 0.1, rate: null, workload, first: 0 };
  const driven = await drive({ ...usual, ...more });
  return { ...driven, ...driven.kinds[0]! };
}

for (const kindOf of [scoreKind, matchKind, eventKind, batchKind]) {
  const { name } = kindOf(site);
  const text = (i: number, connection = 0, of: Site = site) => textOf(kindOf(of).request(i, connection));

  test(`${name}: the same seed gives the same requests, another seed others`, () => {
    assert.is(text(5, 0, { ...site }), text(5));
    assert.is.not(text(5, 0, { ...site, seed: 8 }), text(5));
    assert.is.not(text(6), text(5));
  });

  test(`${name}: requests over different connections differ only in the peer that sends them`, () => {
    const [one, other, again] = [0, 1, 2].map((connection) => text(5, connection));
    assert.is(again, one);
    assert.is(other!.replaceAll('"peer_id":"q"', '"peer_id":"p"').replace('-key: l', '-key: k'), one);
    assert.is(other === one, ['score', 'match'].includes(name));
  });
}

test('a match by subject hashes asks for the players of the match by ids, in their order', () => {
  const idsOf = (kind: Kind) => /ids=([^ ]+)/.exec(textOf(kind.request(5, 0)))![1]!.split(',');
  const byId = idsOf(matchKind(site));
  const digests = byId.map((id) => createHash('sha256').update(id).update('the salt').digest('hex'));
  assert.equal(idsOf(matchKind(site, hashedIds('the salt'))), digests);
});

test('no two events have the same id, also between single ones and batches', () => {
  const ids = (text: string) => [...text.matchAll(/"event_id":"([^"]+)"/g)].map(([, id]) => id);
  const [single, batch] = [eventKind(site), batchKind(site)];
  const all = Array.from({ length: 1000 }, (_, i) => ids(single.request(i, 0))).flat();
  all.push(...[0, 1, 2].flatMap((i) => ids(textOf(batch.request(i, 0)))));
  assert.is(all.length, 1000 + 3 * 500);
  assert.is(new Set(all).size, all.length);
});

test('a batch states its length, and each event has the player and time of its number and the peer of its connection', () => {
  const batches = { ...site, seed: site.seed + idSeeds.batches };
  for (const [i, connection] of [
    [0, 0],
    [7, 1],
    // Its timestamps start again with those of the first day.
    [1_599_999, 2],
  ] as const) {
    const [head = '', body = ''] = textOf(batchKind(site, 50).request(i, connection)).split('\r\n\r\n');
    assert.is(Number(/content-length: (\d+)/.exec(head)?.[1]), Buffer.byteLength(body));
    const { events } = JSON.parse(body) as { events: { player_id: string; peer_id: string; timestamp: string }[] };
    assert.is(events.length, 50);
    for (const [place, { player_id, peer_id, timestamp }] of events.entries()) {
      const number = i * 50 + place;
      const expected = [playerOfEvent(batches, number), ['p', 'q'][connection % 2], timestampOf(number)];
      assert.equal([player_id, peer_id, timestamp], expected);
    }
  }
});

test('a mixture has each kind by its share', () => {
  const mixed = mixture(3, [scoreKind(site), 80], [eventKind(site), 20]);
  const events = Array.from({ length: 10_000 }, (_, i) => mixed.kindAt!(i)).filter((kind) => kind === 1).length;
  assert.ok(Math.abs(events - 2000) < 200, `${events} of 10000`);
});

/** Ends a drive of one connection once the server has seen enough requests, however long a busy machine takes. */
function enough() {
  const ended = new AbortController();
  const count = (number: number) => number === 400 && ended.abort();
  return { count, long: { connections: 1, seconds: 60, until: ended.signal } };
}

/** The hooks of a drive that are called, in order. */
function recorded() {
  const calls: { readonly what: string; readonly ms: number }[] = [];
  const hook = (what: string) => () => void calls.push({ what, ms: performance.now() });
  const hooks = { beforeBegin: hook('before'), onBegin: hook('begin'), onOver: hook('over') };
  return { calls, hooks, names: () => calls.map(({ what }) => what) };
}

test('a closed loop numbers its requests on, and counts every answer', async () => {
  await using server = await serving();
  const { sent, statuses } = await driveAt(server, { first: 40 });
  assert.is(sent, server.requests.length);
  assert.ok(new Set(server.requests).size > 1);
  assert.is(server.requests[0], scoreKind(site).request(40, 0));
  assert.is(statuses.get(200), sent);
});

test('a closed loop that stays awake never sleeps while it waits for an answer, and ends with its last one', async () => {
  const sleptMs = async (staysAwake: boolean): Promise<number> => {
    await using server = await serving((socket) => setTimeout(() => socket.write(plain), 50));
    const before = performance.eventLoopUtilization();
    const { statuses } = await driveAt(server, { seconds: 0.3, staysAwake });
    assert.is(statuses.get(200), server.requests.length);
    return performance.eventLoopUtilization(before).idle;
  };
  const [asleep, awake] = [await sleptMs(false), await sleptMs(true)];
  assert.ok(awake < asleep / 4, `${awake} ms, ${asleep} where it may sleep`);
});

test('answers are understood however they are cut: in pieces, in chunks, without a body', async () => {
  const answers: readonly (readonly string[])[] = [
    [plain],
    ['HTTP/1.1 20', '0 OK\r\ncontent-le', 'ngth: 4\r\n', '\r\no', 'k', 'ok'],
    ['HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n', '0\r', '\n\r\n'],
    ['HTTP/1.1 204 No Content\r\n\r\n'],
  ];
  const { count, long } = enough();
  await using server = await serving(async (socket, number) => {
    count(number);
    for (const piece of answers[number % answers.length]!) {
      socket.write(piece);
      await new Promise((resolve) => setImmediate(resolve));
    }
  });
  const { statuses, sent } = await driveAt(server, long);
  assert.is((statuses.get(200) ?? 0) + (statuses.get(204) ?? 0), sent);
  assert.ok(sent >= answers.length && statuses.get(204)! > 0);
});

test('a connection that the server closes counts as no answer, and the next request goes over a new one', async () => {
  const { count, long } = enough();
  await using server = await serving((socket, number) => {
    count(number);
    if (number === 2) socket.destroy();
    else socket.write(plain);
  });
  const { statuses, sent } = await driveAt(server, long);
  assert.equal([statuses.get(0), statuses.get(200)], [1, sent - 1]);
  assert.ok(sent > 2);
});

test('in an open loop a latency counts from when its request was due', async () => {
  // One connection, answers after 20 ms, 200 requests a second: each waits 15 ms longer than the one before.
  await using server = await serving((socket) => setTimeout(() => socket.write(plain), 20));
  const { sent, unsent, latencies } = await driveAt(server, { connections: 1, rate: 200, seconds: 0.4 });
  assert.is(sent + unsent, 80);
  assert.ok(sent < 25, `${sent} sent`);
  const { count, maxUs } = latencies.summary();
  assert.is(count, 80);
  assert.ok(maxUs > 200_000, `${maxUs} us at most`);
});

test('connections that stay open serve one drive after the other; those of a drive alone end with it', async () => {
  await using server = await serving();
  const connections = connectionsTo({ host: '127.0.0.1', port: server.port }, 2);
  for (let i = 0; i < 3; i++) {
    const { statuses, sent } = await driveAt(server, { connections });
    assert.is(statuses.get(200), sent);
  }
  const lasting = [...server.sockets];
  assert.is(lasting.length, 2);
  await driveAt(server);
  const others = [...server.sockets].filter((socket) => !lasting.includes(socket));
  assert.is(others.length, 2);
  await Promise.all(others.filter((socket) => !socket.closed).map((socket) => once(socket, 'close')));
  assert.ok(lasting.every((socket) => !socket.closed));
  for (const connection of connections) connection.close();
});

test('a drive whose last answers come just before its end does not wait for more', async () => {
  await using server = await serving();
  const startedMs = performance.now();
  // A timer that came early once made one in seven of these wait for the whole grace of 10 s.
  for (let i = 0; i < 30; i++) {
    const { statuses, sent } = await driveAt(server, { rate: 2_000, seconds: 0.05 });
    assert.is(statuses.get(200), sent);
  }
  assert.ok(performance.now() - startedMs < 9_000);
});

test('answers in the lead count only by status, and the time begins shortly after its announcement', async () => {
  // The first request of a connection is answered late, as where a server has yet to take the connection in.
  const seen = new Set<Socket>();
  await using server = await serving((socket) => {
    setTimeout(() => socket.write(plain), seen.has(socket) ? 1 : 60);
    seen.add(socket);
  });
  const { calls, hooks, names } = recorded();
  const driven = await driveAt(server, { ...hooks, connections: 4, rate: 400, leadMs: 150, seconds: 0.25 });
  const { statuses, latencies, answers, sent, early, unsent, seconds } = driven;
  assert.equal(names(), ['before', 'begin', 'over']);
  const [before, begin, over] = calls.map(({ ms }) => ms) as [number, number, number];
  assert.ok(begin > before && over - begin >= 249, `begin ${begin - before} ms after, over ${over - begin} ms after`);
  assert.is(statuses.get(200), sent);
  assert.ok(early >= 4 && early < sent, `${early} early of ${sent}`);
  assert.ok(answers + early <= sent);
  assert.ok(latencies.count <= sent - early + unsent);
  assert.is(seconds, 0.25);
});

test('requests due at the end with a free connection waited for the load, not for the server', async () => {
  await using server = await serving();
  const cut = new AbortController();
  const loadRestsMs = 40;
  setTimeout(() => {
    const untilMs = performance.now() + loadRestsMs;
    while (performance.now() < untilMs);
    cut.abort();
  }, 100);
  const driven = await driveAt(server, { connections: 50, rate: 1_000, seconds: 60, until: cut.signal });
  assert.is(driven.unsent, 0);
  assert.is(driven.latencies.count, driven.sent);
  const { count, maxUs } = driven.lag.summary();
  assert.ok(count >= driven.sent + loadRestsMs / 2, `${count} of ${driven.sent}`);
  assert.ok(maxUs >= (loadRestsMs / 2) * 1000, `${maxUs} us`);
});

for (const [when, leadMs] of [
  ['before its window', 5_000],
  ['in its window', 0],
] as const) {
  test(`a drive that is aborted ${when} is over at once, and reports its begin and its end once`, async () => {
    await using server = await serving();
    const startedMs = performance.now();
    const { hooks, names } = recorded();
    const { seconds } = await driveAt(server, {
      ...hooks,
      rate: 400,
      leadMs,
      seconds: 60,
      until: AbortSignal.timeout(20),
    });
    assert.equal(names(), ['before', 'begin', 'over']);
    assert.ok(seconds >= 0 && seconds < 1 && performance.now() - startedMs < 4_000);
  });
}

test('a 503 answer without Retry-After is counted', async () => {
  const refusal = 'HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n';
  const answers = [`${refusal}\r\n`, `${refusal}Retry-After: 1\r\n\r\n`, plain];
  const { count, long } = enough();
  await using server = await serving((socket, number) => {
    count(number);
    socket.write(answers[number % answers.length]!);
  });
  const workload = { kinds: [{ ...scoreKind(site), expects: [200, 503] }] };
  const { statuses, withoutRetryAfter, sent } = await driveAt(server, { ...long, workload });
  assert.is(withoutRetryAfter, Math.floor(sent / 3));
  assert.ok(statuses.get(503)! > withoutRetryAfter);
});

test('a delay of the load generator itself counts as lag', async () => {
  const held = (i: number) => {
    for (const endMs = performance.now() + 60; i === 5 && performance.now() < endMs; );
    return scoreKind(site).request(i, 0);
  };
  await using server = await serving();
  const workload = { kinds: [{ ...scoreKind(site), request: held }] };
  const { lag } = await driveAt(server, { connections: 8, seconds: 0.3, rate: 100, workload });
  // Request 5 is sent as it is built; 6, 10 ms later by the clock of the load, waits for the 50 ms that are left.
  assert.ok(lag.summary().maxUs > 45_000, `${lag.summary().maxUs} us`);
});

test('a wait for a free connection is not counted as lag, and a closed loop has no lag', async () => {
  await using server = await serving((socket) => setTimeout(() => socket.write(plain), 20));
  const { lag, sent } = await driveAt(server, { rate: 200, connections: 1, seconds: 0.3 });
  assert.ok(sent > 1);
  assert.is(lag.count, 1);
  assert.is((await driveAt(server)).lag.count, 0);
});

test('an open loop of a few hundred requests a second sleeps between them', async () => {
  await using server = await serving();
  const sleep = globalThis.setTimeout;
  let sleeps = 0;
  globalThis.setTimeout = ((work: () => void, ms: number) => {
    // The others of the test end the drive, or answer.
    if (ms >= 1 && ms < 2) sleeps++;
    return sleep(work, ms);
  }) as typeof setTimeout;
  try {
    await driveAt(server, { connections: 8, seconds: 0.3, rate: 350 });
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
  const late = 'reads: the load generator was late by 2.0 ms at the 99th percentile, of 10.0 ms';
  assert.is(note(2, 10), `${late}: these latencies include its delay`);
  assert.is(note(0.9, 1), undefined);
  assert.is(note(2, 30), undefined);
  assert.is(lagNote('reads', [{ lag: new Latencies(), kinds: [] }]), undefined);
});

test('a percentile is printed only if an answer lies beyond it', () => {
  const latencies = new Latencies();
  for (let ms = 1; ms <= 1000; ms++) latencies.record(ms);
  const summary = latencies.summary();
  assert.ok(Math.abs(at(summary, 50) - 500_000) < 1_000);
  assert.ok(Math.abs(at(summary, 99) - 990_000) < 2_000);
  assert.ok(Math.abs(at(summary, 99.9) - 999_000) < 2_000);
  assert.ok(Number.isNaN(at(summary, 99.95)));
  assert.ok(Number.isNaN(at(summary, 99.99)));
});

test.run();
