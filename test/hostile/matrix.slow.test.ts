/**
 * The data that each kind of caller can read from every route, and the data that it can destroy, with production's mode
 * of erasure. `http/request/authorization.slow.test.ts` has the statuses of more callers and of a node without
 * authentication; exact counters have tests of their own.
 */
import { hash } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:net';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { LinkAuthority } from '../../src/cluster/link-security.js';
import { LinkServer } from '../../src/cluster/link-server.js';
import { type OperationId, routes } from '../../src/contract/routes.js';
import { DAY_MS } from '../../src/limits.js';
import type { PerBody } from '../contract/every-body.js';
import { type Answer, ask } from '../http/exchange.js';
import { startFace } from '../http/face.js';
import { activeKey } from '../http/group-double.js';
import { newPlayer, type PeerClient, registerPeer, setStatus } from '../http/peer-client.js';
import { newSigningKey, send, sendSigned } from '../http/signing/signer.js';
import { closing } from '../support/closing.js';
import { startTestNode, type TestNode, weightsSettled } from '../support/node.js';

const salt = 'a salt of sixteen bytes';
const email = 'owner-contact@example.com';

/**
 * `old`: the peer that reported the player, and whose events they are. `another`: a peer of the same age that reported
 * it too.
 */
const callers = ['stranger', 'malformed key', 'revoked key', 'fresh key', 'old key', 'another peer'] as const;
type Caller = (typeof callers)[number];
/** The answer to each caller, in the order of `callers`. */
type Row = readonly [string, string, string, string, string, string];

interface Group {
  readonly node: TestNode;
  readonly old: PeerClient;
  readonly another: PeerClient;
  /** A peer of their age. */
  readonly third: PeerClient;
  readonly keys: Readonly<Record<Caller, string | undefined>>;
  readonly acting: Readonly<Record<Caller, PeerClient>>;
}

async function group(): Promise<Group> {
  let aheadMs = 0;
  const clock = { now: () => Date.now() - 2 * DAY_MS + aheadMs };
  const env = { GROUP_SALT: salt, ERASURE_MODE: 'own', ERASURE_QUOTA_PER_DAY: '1000' };
  const node = await startTestNode(env, { clock });
  const old = await registerPeer(node.url, 'Old');
  const another = await registerPeer(node.url, 'Another');
  const third = await registerPeer(node.url, 'Third');
  await node.group.register({ peerName: 'Mail', gameIds: ['arena'], contactEmail: email }, 'test');
  // In steps, each with a commit: a clock that jumps by more than a day is refused.
  for (let step = 0; step < 2; step += 1) {
    aheadMs += DAY_MS - 5_000;
    await registerPeer(node.url, `Step ${step}`);
  }
  const revoked = await registerPeer(node.url, 'Revoked');
  await setStatus(node, revoked.peerId, 'revoked');
  const fresh = await registerPeer(node.url, 'Fresh');
  return {
    node,
    old,
    another,
    third,
    keys: {
      stranger: undefined,
      'malformed key': 'not a key',
      'revoked key': revoked.key,
      'fresh key': fresh.key,
      'old key': old.key,
      'another peer': another.key,
    },
    acting: {
      stranger: old,
      'malformed key': old,
      'revoked key': revoked,
      'fresh key': fresh,
      'old key': old,
      'another peer': another,
    },
  };
}

const subjectOf = (player: string): string => hash('sha256', player + salt, 'hex');

/** A player whom `old` reported, and then each of the others. */
async function reported({ node, old, another }: Group, others: readonly PeerClient[] = [another]) {
  const player = newPlayer();
  const by = [old, ...others];
  const ids: string[] = [];
  for (const peer of by) {
    const event = peer.event({ player_id: player });
    ids.push(event.event_id);
    assert.is((await ask(node.url, '/api/v1/events', { key: peer.key, json: event })).status, 201);
  }
  return { player, subject: subjectOf(player), oldId: ids[0]!, anotherId: ids[1] ?? 'none' };
}

/** The status and code of an answer, and in brackets what it tells of what only some may know. */
function cellOf(answer: Answer, facts: Readonly<Record<string, boolean>>): string {
  const status = answer.status < 400 ? String(answer.status) : `${answer.status} ${answer.body.code}`;
  const names = Object.keys(facts).filter((name) => facts[name]);
  return names.length === 0 ? status : `${status} [${names.join(', ')}]`;
}

const noKey = '401 missing_api_key';
const badKey = '401 invalid_api_key';
const inactive = '403 peer_not_active';
const all = (cell: string): Row => [cell, cell, cell, cell, cell, cell];
/** For active peers alone, who all get the same. */
const active = (cell: string): Row => [noKey, badKey, inactive, cell, cell, cell];

/**
 * `old id`, `another's id`: ids of the events that these peers sent. `peers`: peer ids. `hash`: the player's. `counts`:
 * of single peers.
 */
const learns: Readonly<Record<OperationId, Row>> = {
  getIndex: all('200'),
  getHealth: all('200'),
  getReadiness: all('200'),
  getOpenApi: all('200'),
  getOpenApi30: all('200'),
  getDocs: all('200'),
  getDocsAsset: all('200'),
  registerPeer: all('201'),
  listPeers: [
    '200 [peers]',
    '200 [peers]',
    '200 [peers]',
    '200 [peers, counts]',
    '200 [peers, counts]',
    '200 [peers, counts]',
  ],
  // The caller who registered or erased, and the time; never the player.
  listAudit: active('200 [peers]'),
  // A peer reads what it sent, and nobody else does.
  listPlayerEvents: ['200', '200', '200', '200', '200 [old id, peers]', "200 [another's id, peers]"],
  getTrustScore: all('200'),
  getTrustScores: all('200'),
  getVerdict: all('200'),
  streamVerdicts: active('200 [hash]'),
  // Its own events alone, and none of these went.
  listErasedEvents: active('200'),
  // The caller's own id is taken, and the answer names nothing else.
  submitEvent: active('409 duplicate_event [old id]'),
  submitEvents: active('200 [old id]'),
  withdrawEvent: [noKey, badKey, inactive, '404 event_not_found', '200 [old id]', '404 event_not_found'],
  // Reported by two: nobody erases the player alone. The hash is the one that was asked for.
  eraseSubject: active('202 [hash]'),
  // The answer reveals neither who reported the player nor what others dispute.
  openDispute: active('201 [hash]'),
};

/** The beginning of the verdict stream, up to the first players, or the refusal. */
async function beginningOf(url: string, key: string | undefined, awaited: string): Promise<Answer> {
  const ending = new AbortController();
  const headers: Record<string, string> = key === undefined ? {} : { 'X-Peer-API-Key': key };
  const response = await fetch(`${url}/api/v1/verdicts/stream`, { headers, signal: ending.signal });
  if (response.status !== 200) {
    const text = await response.text();
    return { status: response.status, headers: {}, text, body: JSON.parse(text) };
  }
  let text = '';
  const decoder = new TextDecoder();
  for await (const chunk of response.body!) {
    text += decoder.decode(chunk, { stream: true });
    if (text.includes(awaited)) break;
  }
  ending.abort();
  return { status: 200, headers: {}, text, body: undefined };
}

async function call(of: Group, id: OperationId, caller: Caller, known?: Awaited<ReturnType<typeof reported>>) {
  const { node, acting, keys } = of;
  const about = known ?? (await reported(of));
  const key = keys[caller];
  if (id === 'streamVerdicts') return { about, answer: await beginningOf(node.url, key, about.subject) };
  const route = routes[id];
  const path = route.path
    .replace('{hash}', about.subject)
    .replace('{asset}', 'start.js')
    .replace('{event_id}', about.oldId)
    .replace('{id}', about.player);
  const taken = acting[caller].event({ player_id: newPlayer(), event_id: about.oldId });
  const bodies: PerBody<unknown> = {
    registerPeer: { peer_name: 'New', game_ids: ['arena'] },
    submitEvent: taken,
    submitEvents: { events: [taken] },
    openDispute: { text: 'not so' },
  };
  const query = { getTrustScores: `?ids=${about.player}`, listPeers: '?limit=200', listAudit: '?limit=200' };
  const answer = await ask(node.url, path + (query[id as keyof typeof query] ?? ''), {
    method: route.method,
    ...(key === undefined ? {} : { key }),
    ...(bodies[id] === undefined ? {} : { json: bodies[id] }),
  });
  return { about, answer };
}

test('a caller learns from each route exactly what the table states, in every cell', async () => {
  const of = await group();
  assert.equal(Object.keys(learns).sort(), Object.keys(routes).sort());
  for (const [id, row] of Object.entries(learns) as [OperationId, Row][]) {
    for (const [place, caller] of callers.entries()) {
      const { about, answer } = await call(of, id, caller);
      const { text } = answer;
      const where = `${id}, ${caller}`;
      const facts = {
        'old id': text.includes(about.oldId),
        "another's id": text.includes(about.anotherId),
        // A registration tells the caller its own.
        peers: id !== 'registerPeer' && [of.old, of.another].some(({ peerId }) => text.includes(peerId)),
        hash: text.includes(about.subject),
        counts: id === 'listPeers' && answer.body.data.some((peer: object) => 'event_count' in peer),
      };
      assert.is(cellOf(answer, facts), row[place], where);
      const secrets = [salt, email, of.old.key, of.another.key, of.keys['revoked key']!, of.keys['fresh key']!];
      for (const secret of secrets) assert.not(text.includes(secret), where);
      // Not even beside its own events does a peer see who else reported the player.
      if (id === 'listPlayerEvents' && caller === 'old key') assert.not(text.includes(of.another.peerId), where);
    }
  }
  await of.node.close();
});

/** `exact`: the figures of the player lie between the steps of 1 and .05. */
const figures = {
  'a player of three peers': {
    getTrustScore: all('200 [exact]'),
    getTrustScores: all('200 [exact]'),
    getVerdict: all('200 [exact]'),
    streamVerdicts: active('200 [exact]'),
  },
  'a player of two peers': {
    getTrustScore: all('200'),
    getTrustScores: all('200'),
    getVerdict: all('200'),
    streamVerdicts: active('200'),
  },
};

function isExact(text: string, subject: string): boolean {
  const own = text.slice(Math.max(0, text.indexOf(subject)));
  const [score = 0, confidence = 0] = ['score', 'confidence'].map((name) => own.match(`"${name}":([\\d.]+)`)?.[1]);
  return Number(score) % 1 !== 0 || Math.round(Number(confidence) * 10_000) % 500 !== 0;
}

test('no caller reads exact figures of a player whom only two peers reported', async () => {
  const of = await group();
  const three = await reported(of, [of.another, of.third]);
  const two = await reported(of);
  await weightsSettled(of.node);
  for (const [about, rows] of [
    [three, figures['a player of three peers']],
    [two, figures['a player of two peers']],
  ] as const) {
    for (const [id, row] of Object.entries(rows) as [OperationId, Row][]) {
      for (const [place, caller] of callers.entries()) {
        const { answer } = await call(of, id, caller, about);
        const exact = isExact(answer.text, about.subject);
        assert.is(cellOf(answer, { exact }), row[place], `${id}, ${caller}`);
      }
    }
  }
  await of.node.close();
});

const secret = 'a secret of at least 32 bytes, for tests';

/** Authorities of a `CONNECT` for the link between nodes, and whether it opens. */
const tunnels: Readonly<Record<string, readonly [authority: () => string, status: string]>> = {
  'no proof': [() => 'ptf-cluster:1', '400'],
  'an empty proof': [() => 'ptf-cluster-2.:1', '400'],
  'the proof of another secret': [() => new LinkAuthority(`not ${secret}`, 'g').make(), '400'],
  'the proof of another group': [() => new LinkAuthority(secret, 'other').make(), '400'],
  'the proof of the secret': [() => new LinkAuthority(secret, 'g').make(), '200'],
};

test('only the proof of the secret opens the link between nodes, whatever the key', async () => {
  await using link = closing(
    new LinkServer(
      secret,
      'g',
      async () => ({}),
      () => undefined,
    ),
  );
  await using face = await startFace({ tunnel: (...asked) => link.tunnel(...asked) });
  for (const [what, [authority, status]] of Object.entries(tunnels)) {
    for (const key of ['', 'X-Peer-API-Key: not a key\r\n', `X-Peer-API-Key: ${activeKey}\r\n`]) {
      const socket = connect(face.port, '127.0.0.1').on('error', () => {});
      socket.write(`CONNECT ${authority()} HTTP/1.1\r\nHost: x\r\n${key}\r\n`);
      const [chunk] = (await once(socket, 'data')) as [Buffer];
      socket.destroy();
      assert.is(chunk.toString('latin1').split(' ')[1], status, `${what}, ${key}`);
    }
  }
});

interface Target {
  readonly isShared: boolean;
  /** The call that would destroy it. */
  readonly path: (about: Awaited<ReturnType<typeof reported>>) => string;
  /** The answer, and whether the old peer's event survives. */
  readonly row: Row;
}

const destroys: Readonly<Record<string, Target>> = {
  'a player whom only the old peer reported': {
    isShared: false,
    path: ({ subject }) => `/api/v1/subjects/${subject}`,
    row: [`${noKey}: kept`, `${badKey}: kept`, `${inactive}: kept`, '202: kept', '200: destroyed', '202: kept'],
  },
  'a player whom two peers reported': {
    isShared: true,
    path: ({ subject }) => `/api/v1/subjects/${subject}`,
    row: [`${noKey}: kept`, `${badKey}: kept`, `${inactive}: kept`, '202: kept', '202: kept', '202: kept'],
  },
  'an event of the old peer': {
    isShared: true,
    path: ({ oldId }) => `/api/v1/events/${oldId}`,
    row: [
      `${noKey}: kept`,
      `${badKey}: kept`,
      `${inactive}: kept`,
      '404 event_not_found: kept',
      '200: destroyed',
      '404 event_not_found: kept',
    ],
  },
};

test('a caller can destroy exactly what the table states, in every cell', async () => {
  const of = await group();
  for (const [what, { isShared, path, row }] of Object.entries(destroys)) {
    for (const [place, caller] of callers.entries()) {
      const about = await reported(of, isShared ? [of.another] : []);
      const key = of.keys[caller];
      const answer = await ask(of.node.url, path(about), { method: 'DELETE', ...(key === undefined ? {} : { key }) });
      const { text } = await ask(of.node.url, `/api/v1/players/${about.player}/events`, { key: of.old.key });
      const fate = text.includes(about.oldId) ? 'kept' : 'destroyed';
      assert.is(`${cellOf(answer, {})}: ${fate}`, row[place], `${what}, ${caller}`);
    }
  }
  await of.node.close();
});

test('a stolen key of a peer that signs its requests destroys and adds nothing', async () => {
  const of = await group();
  const { old, node } = of;
  const { player, subject, oldId } = await reported(of, []);
  assert.ok(
    (await node.group.changePeer('public_key', old.peerId, { publicKey: newSigningKey().publicKey }, 'test')).ok,
  );
  const thief = newSigningKey();
  const body = JSON.stringify(old.event({ player_id: player }));
  for (const write of [
    { method: 'POST', path: '/api/v1/events', body },
    { method: 'POST', path: '/api/v1/events/batch', body: `{"events":[${body}]}` },
    { method: 'DELETE', path: `/api/v1/events/${oldId}` },
    { method: 'DELETE', path: `/api/v1/subjects/${subject}` },
  ]) {
    const request = { ...write, key: old.key };
    const unsigned = await send(node.url, request, { 'content-type': 'application/json', 'x-peer-api-key': old.key });
    assert.is(cellOf(unsigned, {}), '401 signature_missing', write.path);
    assert.is(cellOf(await sendSigned(node.url, request, thief), {}), '401 signature_invalid', write.path);
  }
  const { body: events } = await ask(node.url, `/api/v1/players/${player}/events`, { key: old.key });
  assert.equal([events.total, events.data[0].event_id], [1, oldId]);
  await node.close();
});

test.run();
