import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { connectionsTo, type DriveOptions, drive, type Kind } from '../../bench/load/drive.js';
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

const site = {
  seed: 7,
  players: 100,
  peers: [
    { peerId: 'p', apiKey: 'k' },
    { peerId: 'q', apiKey: 'l' },
  ],
};
const plain = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';

/** A server that answers each request as `answer` says, and the requests that it got. */
async function withServer(
  answer: (socket: Socket, number: number) => void,
  run: (port: number, requests: readonly string[]) => Promise<void>,
): Promise<void> {
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
  try {
    await run((server.address() as { port: number }).port, requests);
  } finally {
    for (const socket of sockets) socket.destroy();
    server.close();
  }
}

function textOf(request: string | Uint8Array): string {
  return typeof request === 'string' ? request : Buffer.from(request).toString('latin1');
}

function options(port: number, more: Partial<DriveOptions> = {}): DriveOptions {
  const workload = { kinds: [scoreKind(site)] };
  return { host: '127.0.0.1', port, connections: 2, seconds: 0.1, rate: null, workload, first: 0, ...more };
}

test('the same seed gives the same requests, another seed others', () => {
  for (const kindOf of [scoreKind, matchKind, eventKind, batchKind]) {
    const text = (of: Site, i: number) => textOf(kindOf(of).request(i, 0));
    assert.is(text(site, 5), text({ ...site }, 5));
    assert.is.not(text(site, 5), text({ ...site, seed: 8 }, 5));
    assert.is.not(text(site, 5), text(site, 6));
  }
});

test('requests over different connections differ only in the peer that sends them', () => {
  for (const kindOf of [scoreKind, matchKind, eventKind, batchKind]) {
    const kind: Kind = kindOf(site);
    const [one, other, again] = [0, 1, 2].map((connection) => textOf(kind.request(5, connection)));
    assert.is(again, one);
    assert.is(other!.replaceAll('"peer_id":"q"', '"peer_id":"p"').replace('-key: l', '-key: k'), one);
    assert.is(other === one, ['score', 'match'].includes(kind.name));
  }
});

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

test('each event of a batch has the timestamp of its number, so that none repeats an earlier piece of evidence', () => {
  const kind = batchKind(site, 50);
  for (const i of [0, 7, 1_599_999]) {
    const { events } = JSON.parse(textOf(kind.request(i, 0)).split('\r\n\r\n')[1]!) as { events: Timed[] };
    const expected = Array.from({ length: 50 }, (_, place) => timestampOf(i * 50 + place));
    assert.equal(
      events.map(({ timestamp }) => timestamp),
      expected,
    );
  }
});

interface Timed {
  readonly timestamp: string;
}

test('each batch is about players of its own, by the peer whose connection it is', () => {
  const kind = batchKind(site, 50);
  const eventsOf = (i: number, connection: number) => {
    const [, body = ''] = textOf(kind.request(i, connection)).split('\r\n\r\n');
    return (JSON.parse(body) as { events: { player_id: string; peer_id: string }[] }).events;
  };
  for (const [i, connection] of [
    [0, 0],
    [7, 1],
  ] as const) {
    const events = eventsOf(i, connection);
    const players = Array.from({ length: 50 }, (_, place) =>
      playerOfEvent({ ...site, seed: site.seed + idSeeds.batches }, i * 50 + place),
    );
    assert.equal(
      events.map(({ player_id }) => player_id),
      players,
    );
    assert.ok(events.every(({ peer_id }) => peer_id === site.peers[connection % site.peers.length]!.peerId));
  }
});

test('a request states the length of its body', () => {
  const request = textOf(batchKind(site).request(1, 0));
  const [head, body] = request.split('\r\n\r\n') as [string, string];
  assert.is(Number(/content-length: (\d+)/.exec(head)?.[1]), Buffer.byteLength(body));
  assert.is((JSON.parse(body) as { events: unknown[] }).events.length, 500);
});

test('a mixture has each kind by its share', () => {
  const mixed = mixture(3, [
    [scoreKind(site), 80],
    [eventKind(site), 20],
  ]);
  const events = Array.from({ length: 10_000 }, (_, i) => mixed.kindAt!(i)).filter((kind) => kind === 1).length;
  assert.ok(Math.abs(events - 2000) < 200, `${events} of 10000`);
});

/** One connection until the server has seen enough requests, however long a busy machine takes for them. */
const enoughRequests = 400;
const long = { connections: 1, seconds: 60 };

test('a closed loop numbers its requests on, and counts every answer', async () => {
  await withServer(
    (socket) => socket.write(plain),
    async (port, requests) => {
      const driven = await drive(options(port, { first: 40 }));
      assert.is(driven.sent, requests.length);
      assert.equal(new Set(requests).size > 1, true);
      assert.is(requests[0], scoreKind(site).request(40, 0));
      assert.is(driven.kinds[0]!.statuses.get(200), driven.sent);
    },
  );
});

test('a closed loop that stays awake never sleeps while it waits for an answer, and ends with its last one', async () => {
  const sleptMs = async (staysAwake: boolean): Promise<number> => {
    let slept = 0;
    await withServer(
      (socket) => setTimeout(() => socket.write(plain), 50),
      async (port, requests) => {
        const before = performance.eventLoopUtilization();
        const driven = await drive(options(port, { seconds: 0.3, staysAwake }));
        slept = performance.eventLoopUtilization(before).idle;
        assert.is(driven.kinds[0]!.statuses.get(200), requests.length);
      },
    );
    return slept;
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
  const enough = new AbortController();
  await withServer(
    async (socket, number) => {
      if (number === enoughRequests) enough.abort();
      for (const piece of answers[number % answers.length]!) {
        socket.write(piece);
        await new Promise((resolve) => setImmediate(resolve));
      }
    },
    async (port) => {
      const { kinds, sent } = await drive(options(port, { ...long, until: enough.signal }));
      const { statuses } = kinds[0]!;
      assert.is((statuses.get(200) ?? 0) + (statuses.get(204) ?? 0), sent);
      assert.ok(sent >= answers.length && statuses.get(204)! > 0);
    },
  );
});

test('a connection that the server closes counts as no answer, and the next request goes over a new one', async () => {
  const enough = new AbortController();
  await withServer(
    (socket, number) => {
      if (number === enoughRequests) enough.abort();
      if (number === 2) socket.destroy();
      else socket.write(plain);
    },
    async (port) => {
      const { kinds, sent } = await drive(options(port, { ...long, until: enough.signal }));
      assert.is(kinds[0]!.statuses.get(0), 1);
      assert.is(kinds[0]!.statuses.get(200), sent - 1);
      assert.ok(sent > 2);
    },
  );
});

test('in an open loop a latency counts from when its request was due', async () => {
  // One connection, answers after 20 ms, 200 requests a second: each waits 15 ms longer than the one before.
  const kind: Kind = { ...scoreKind(site), expects: [200] };
  await withServer(
    (socket) => setTimeout(() => socket.write(plain), 20),
    async (port) => {
      const given = { connections: 1, rate: 200, seconds: 0.4, workload: { kinds: [kind] } };
      const { kinds, sent, unsent } = await drive(options(port, given));
      assert.is(sent + unsent, 80);
      assert.ok(sent < 25, `${sent} sent`);
      const { count, maxUs } = kinds[0]!.latencies.summary();
      assert.is(count, 80);
      assert.ok(maxUs > 200_000, `${maxUs} us at most`);
    },
  );
});

test('connections that stay open serve one drive after the other; those of a drive alone end with it', async () => {
  const seen = new Set<Socket>();
  await withServer(
    (socket) => {
      seen.add(socket);
      socket.write(plain);
    },
    async (port) => {
      const kept = connectionsTo(options(port), 2);
      for (let i = 0; i < 3; i++) {
        const { kinds, sent } = await drive(options(port, { connections: kept }));
        assert.is(kinds[0]!.statuses.get(200), sent);
      }
      const ofKept = [...seen];
      assert.is(ofKept.length, kept.length);
      await drive(options(port));
      const others = [...seen].filter((socket) => !ofKept.includes(socket));
      assert.is(others.length, 2);
      await Promise.all(others.filter((socket) => !socket.closed).map((socket) => once(socket, 'close')));
      assert.ok(ofKept.every((socket) => !socket.closed));
      for (const connection of kept) connection.close();
    },
  );
});

test('a drive whose last answers come just before its end does not wait for more', async () => {
  await withServer(
    (socket) => socket.write(plain),
    async (port) => {
      const startedMs = performance.now();
      // A timer that came early once made one in seven of these wait for the whole grace of 10 s.
      for (let i = 0; i < 30; i++) {
        const { kinds, sent } = await drive(options(port, { rate: 2_000, seconds: 0.05 }));
        assert.is(kinds[0]!.statuses.get(200), sent);
      }
      assert.ok(performance.now() - startedMs < 9_000);
    },
  );
});

test('a drive reports its begin, and once its end, even if it is aborted', async () => {
  await withServer(
    (socket) => socket.write(plain),
    async (port) => {
      for (const until of [undefined, AbortSignal.timeout(20)]) {
        const told: string[] = [];
        const tell = { onBegin: () => told.push('begin'), onOver: () => told.push('over') };
        await drive(options(port, { ...tell, seconds: 0.1, ...(until === undefined ? {} : { until }) }));
        assert.equal(told, ['begin', 'over']);
      }
    },
  );
});

test('answers in the lead count only by status, and the time begins shortly after its announcement', async () => {
  // The first request of a connection is answered late, as where a server has yet to take the connection in.
  const firstAnswerMs = 60;
  const seen = new Set<Socket>();
  await withServer(
    (socket) => {
      const isFirst = !seen.has(socket);
      seen.add(socket);
      setTimeout(() => socket.write(plain), isFirst ? firstAnswerMs : 1);
    },
    async (port) => {
      const told: [what: string, ms: number][] = [];
      const tell = (what: string) => told.push([what, performance.now()]);
      const hooks = { beforeBegin: () => tell('before'), onBegin: () => tell('begin'), onOver: () => tell('over') };
      const driven = await drive(options(port, { ...hooks, connections: 4, rate: 400, leadMs: 150, seconds: 0.25 }));
      const { statuses, latencies, answers } = driven.kinds[0]!;
      assert.equal(
        told.map(([what]) => what),
        ['before', 'begin', 'over'],
      );
      const [before, begin, over] = told.map(([, ms]) => ms) as [number, number, number];
      assert.ok(
        begin > before && over - begin >= 249,
        `begin ${begin - before} ms after, over ${over - begin} ms after`,
      );
      assert.is(statuses.get(200), driven.sent);
      assert.ok(driven.early >= 4 && driven.early < driven.sent, `${driven.early} early of ${driven.sent}`);
      assert.ok(answers + driven.early <= driven.sent);
      assert.is(latencies.summary().count <= driven.sent - driven.early + driven.unsent, true);
      assert.is(driven.seconds, 0.25);
    },
  );
});

test('requests due at the end with a free connection waited for the load, not for the server', async () => {
  await withServer(
    (socket) => socket.write(plain),
    async (port) => {
      const cut = new AbortController();
      const loadRestsMs = 40;
      setTimeout(() => {
        const untilMs = performance.now() + loadRestsMs;
        while (performance.now() < untilMs);
        cut.abort();
      }, 100);
      const driven = await drive(options(port, { connections: 50, rate: 1_000, seconds: 60, until: cut.signal }));
      const { latencies } = driven.kinds[0]!;
      assert.is(driven.unsent, 0);
      assert.is(latencies.summary().count, driven.sent);
      const { count, maxUs } = driven.lag.summary();
      assert.ok(count >= driven.sent + loadRestsMs / 2, `${count} of ${driven.sent}`);
      assert.ok(maxUs >= (loadRestsMs / 2) * 1000, `${maxUs} us`);
    },
  );
});

test('a drive that is aborted before its window is over at once, without a time', async () => {
  await withServer(
    (socket) => socket.write(plain),
    async (port) => {
      const startedMs = performance.now();
      const told: string[] = [];
      const hooks = {
        beforeBegin: () => told.push('before'),
        onBegin: () => told.push('begin'),
        onOver: () => told.push('over'),
      };
      const until = AbortSignal.timeout(20);
      const driven = await drive(options(port, { ...hooks, rate: 400, leadMs: 5_000, seconds: 60, until }));
      assert.equal(told, ['before', 'begin', 'over']);
      assert.ok(driven.seconds >= 0 && driven.seconds < 1 && performance.now() - startedMs < 4_000);
    },
  );
});

test('a 503 answer without Retry-After is counted', async () => {
  const refusal = 'HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n';
  const enough = new AbortController();
  const kind: Kind = { ...scoreKind(site), expects: [200, 503] };
  await withServer(
    (socket, number) => {
      if (number === enoughRequests) enough.abort();
      const answers = [`${refusal}\r\n`, `${refusal}Retry-After: 1\r\n\r\n`, plain];
      socket.write(answers[number % answers.length]!);
    },
    async (port) => {
      const { kinds, sent } = await drive(
        options(port, { ...long, workload: { kinds: [kind] }, until: enough.signal }),
      );
      const { statuses, withoutRetryAfter } = kinds[0]!;
      assert.is(withoutRetryAfter, Math.floor(sent / 3));
      assert.ok(statuses.get(503)! > withoutRetryAfter);
    },
  );
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
