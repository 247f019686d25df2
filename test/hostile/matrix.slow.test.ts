/**
 * The data that each kind of caller can read from every route, and the data that it can destroy, with production's mode
 * of erasure. `http/request/authorization.slow.test.ts` has the statuses of more callers and of a node without
 * authentication; exact counters have tests of their own.
 */
import { hash } from 'node:crypto';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { type OperationId, routes } from '../../src/contract/routes.js';
import { DAY_MS } from '../../src/limits.js';
import type { PerBody } from '../contract/every-body.js';
import { type Answer, ask } from '../http/exchange.js';
import { newPlayer, type PeerClient, registerPeer, setStatus } from '../http/peer-client.js';
import { startTestNode, type TestNode } from '../support/node.js';

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
  /** The peer under whose name each caller acts, and the key that the caller sends. */
  readonly acting: Readonly<Record<Caller, PeerClient>>;
  keyOf(caller: Caller): string | undefined;
}

async function group(): Promise<Group> {
  let aheadMs = 0;
  const clock = { now: () => Date.now() - 2 * DAY_MS + aheadMs };
  const env = { GROUP_SALT: salt, ERASURE_MODE: 'own', ERASURE_QUOTA_PER_DAY: '1000' };
  const node = await startTestNode(env, { clock });
  const old = await registerPeer(node.url, 'Old');
  const another = await registerPeer(node.url, 'Another');
  await node.group.register({ peerName: 'Mail', gameIds: ['arena'], contactEmail: email }, 'test');
  // In steps, each with a commit: a clock that jumps by more than a day is refused.
  for (let step = 0; step < 2; step += 1) {
    aheadMs += DAY_MS - 5_000;
    await registerPeer(node.url, `Step ${step}`);
  }
  const revoked = await registerPeer(node.url, 'Revoked');
  await setStatus(node, revoked.peerId, 'revoked');
  const fresh = await registerPeer(node.url, 'Fresh');
  const acting = {
    stranger: old,
    'malformed key': old,
    'revoked key': revoked,
    'fresh key': fresh,
    'old key': old,
    'another peer': another,
  };
  const keyOf = (caller: Caller) => {
    if (caller === 'stranger') return undefined;
    return caller === 'malformed key' ? 'not a key' : acting[caller].key;
  };
  return { node, old, another, acting, keyOf };
}

const subjectOf = (player: string): string => hash('sha256', player + salt, 'hex');

/** A player whom `old` reported, and then each of the others. */
async function reported({ node, old, another }: Group, others: readonly PeerClient[] = [another]) {
  const player = newPlayer();
  const ids: string[] = [];
  for (const peer of [old, ...others]) {
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

async function call(of: Group, id: OperationId, caller: Caller) {
  const { node, acting } = of;
  const about = await reported(of);
  const key = of.keyOf(caller);
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
      const secrets = [salt, email, ...Object.values(of.acting).map(({ key }) => key)];
      for (const secret of secrets) assert.not(text.includes(secret), where);
      // Not even beside its own events does a peer see who else reported the player.
      if (id === 'listPlayerEvents' && caller === 'old key') assert.not(text.includes(of.another.peerId), where);
    }
  }
  await of.node.close();
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
      const key = of.keyOf(caller);
      const answer = await ask(of.node.url, path(about), { method: 'DELETE', ...(key === undefined ? {} : { key }) });
      const { text } = await ask(of.node.url, `/api/v1/players/${about.player}/events`, { key: of.old.key });
      const fate = text.includes(about.oldId) ? 'kept' : 'destroyed';
      assert.is(`${cellOf(answer, {})}: ${fate}`, row[place], `${what}, ${caller}`);
    }
  }
  await of.node.close();
});

test.run();
