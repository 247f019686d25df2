/**
 * Every operation against every kind of caller, each cell from one table. The texts of refusals and what holds without
 * authentication stand in `access.slow.test.ts`.
 */
import { hash } from 'node:crypto';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { type OperationId, type Route, routes } from '../../../src/contract/routes.js';
import type { PerBody } from '../../contract/every-body.js';
import { startTestNode, type TestNode } from '../../support/node.js';
import { type Answer, ask } from '../exchange.js';
import { newPlayer, type PeerClient, registerPeer, setStatus } from '../peer-client.js';
import { newSigningKey, type SigningKey, sendSigned } from '../signing/signer.js';

const salt = 'a salt of sixteen bytes';

/**
 * `owner` acts on what is its own; `other` is an active peer that acts on what is the owner's, under the owner's name;
 * `off` and `off, bad key` are callers of a node whose peer authentication is off.
 */
const callers = [
  'no key',
  'blank key',
  'bad key',
  'owner',
  'other',
  'suspended',
  'revoked',
  'off',
  'off, bad key',
] as const;
type Caller = (typeof callers)[number];

/** Keys that get the same as a caller of the table. */
const variants = {
  'empty key': ['no key', () => ''],
  'longer key': ['bad key', (keys) => `${keys.owner}x`],
  'key in lower case': ['bad key', (keys) => keys.owner!.toLowerCase()],
  'off, empty key': ['off', () => ''],
  'off, suspended': ['off', (keys) => keys.suspended],
  'off, owner': ['owner', (keys) => keys.owner],
} as const satisfies Readonly<Record<string, readonly [Caller, (keys: Group['keys']) => string | undefined]>>;

/** The answer to each caller, in the order of `callers`. */
type Row = readonly [string, string, string, string, string, string, string, string, string];

const all = (cell: string): Row => [cell, cell, cell, cell, cell, cell, cell, cell, cell];

const missing = '401 missing_api_key';
const invalid = '401 invalid_api_key';
const inactive = '403 peer_not_active';

/** What only active peers may ask: the answer to the owner and to callers without authentication, and to others. */
const peersOnly = (own: string, other = own): Row => [
  missing,
  missing,
  invalid,
  own,
  other,
  inactive,
  inactive,
  own,
  own,
];

/** The status, the code of a refusal, and in brackets what a body shows of it. */
const table: Readonly<Record<OperationId, Row>> = {
  getIndex: all('200'),
  getHealth: all('200'),
  getReadiness: all('200'),
  getOpenApi: all('200'),
  getOpenApi30: all('200'),
  getDocs: all('200'),
  getDocsAsset: all('200'),
  registerPeer: all('201'),
  getTrustScore: all('200'),
  getTrustScores: all('200'),
  getVerdict: all('200'),
  // How much each peer sent is for active peers only.
  listPeers: ['200', '200', '200', '200 [counts]', '200 [counts]', '200', '200', '200', '200'],
  // Only its own events, and only in full to the peer that sent them.
  listPlayerEvents: ['200', '200', '200', '200 [own events]', '200', '200', '200', '200', '200'],
  streamVerdicts: peersOnly('200'),
  listAudit: peersOnly('200'),
  submitEvent: peersOnly('201', '422 peer_id_mismatch'),
  submitEvents: peersOnly('200 [201]', '200 [422 peer_id_mismatch]'),
  withdrawEvent: peersOnly('200', '404 event_not_found'),
  listErasedEvents: peersOnly('200'),
  // Erasure is a right of the player, whichever peer passes it on.
  eraseSubject: peersOnly('200'),
  // A caller that knows the player may dispute, even if no peer reported the player.
  openDispute: peersOnly('201'),
};

/** Requests whose answer depends on their body, too. */
const bodies: Readonly<Record<string, { id: OperationId; body: (group: Group) => object; row: Row }>> = {
  'a dispute with the peer that reported': {
    id: 'openDispute',
    body: ({ owner }) => ({ text: 'not so', peer_id: owner.peerId }),
    row: peersOnly('201'),
  },
  'a dispute with a peer that did not report': {
    id: 'openDispute',
    body: ({ other }) => ({ text: 'not so', peer_id: other.peerId }),
    row: peersOnly('422 nothing_to_dispute'),
  },
  // Under such a key anybody can sign.
  'a registration with a public key of small order': {
    id: 'registerPeer',
    body: () => ({ peer_name: 'New', game_ids: ['arena'], public_key: 'A'.repeat(43) }),
    row: all('400 schema_validation_failed'),
  },
};

interface Group {
  readonly node: TestNode;
  readonly owner: PeerClient;
  readonly other: PeerClient;
  readonly keys: Readonly<Record<Caller, string | undefined>>;
}

async function groupWith(PEER_AUTH_ENABLED: string, more: Record<string, string> = {}): Promise<Group> {
  const env = { PEER_AUTH_ENABLED, GROUP_SALT: salt, ERASURE_QUOTA_PER_DAY: '1000', ...more };
  const node = await startTestNode(env);
  const peer = (name: string) => registerPeer(node.url, name);
  const [owner, other] = [await peer('Owner'), await peer('Other')];
  const [suspended, revoked] = [await peer('Suspended'), await peer('Revoked')];
  await setStatus(node, suspended.peerId, 'suspended');
  await setStatus(node, revoked.peerId, 'revoked');
  const bad = 'ptf_dev_nobody';
  const keys = {
    'no key': undefined,
    'blank key': ' \t ',
    'bad key': bad,
    owner: owner.key,
    other: other.key,
    suspended: suspended.key,
    revoked: revoked.key,
    off: undefined,
    'off, bad key': bad,
  };
  return { node, owner, other, keys };
}

async function setKey({ node, owner }: Group, publicKey: string | null): Promise<void> {
  assert.ok((await node.group.changePeer('public_key', owner.peerId, { publicKey }, 'test')).ok);
}

/** Asks for what does not exist: the caller is refused before that is seen. */
function callUnprepared({ node, owner }: Group, id: OperationId, key: string | undefined): Promise<Answer> {
  const { method, path } = routes[id];
  const target = path.replace('{hash}', 'ab'.repeat(32)).replace('{event_id}', 'nothing');
  const json = method === 'POST' ? { json: owner.event() } : {};
  return ask(node.url, target, { method, ...(key === undefined ? {} : { key }), ...json });
}

/**
 * Asks for something of the owner that exists, in a form that passes every check but those of the caller. `prepared`
 * runs in between.
 */
async function call(
  { node, owner }: Group,
  id: OperationId,
  key: string | undefined,
  signing: SigningKey | null = null,
  prepared: () => Promise<void> = async () => {},
  body?: object,
): Promise<Answer> {
  const route = routes[id];
  const player_id = newPlayer();
  const stored = owner.event({ player_id });
  assert.is((await ask(node.url, '/api/v1/events', { key: owner.key, json: stored })).status, 201);
  await prepared();
  const path = route.path
    .replace('{hash}', hash('sha256', player_id + salt, 'hex'))
    .replace('{asset}', 'start.js')
    .replace('{event_id}', stored.event_id)
    .replace('{id}', player_id);
  const usual: PerBody<unknown> = {
    registerPeer: { peer_name: 'New', game_ids: ['arena'] },
    submitEvent: owner.event({ player_id }),
    submitEvents: { events: [owner.event({ player_id })] },
    openDispute: { text: 'not so' },
  };
  const json = body ?? usual[id];
  const { method } = route;
  const target = id === 'getTrustScores' ? `${path}?ids=${player_id}` : path;
  if (signing !== null && key !== undefined) {
    const signed = json === undefined ? {} : { body: JSON.stringify(json) };
    return sendSigned(node.url, { method, path: target, key, ...signed }, signing);
  }
  const sent = json === undefined ? {} : { json };
  return ask(node.url, target, { method, ...(key === undefined ? {} : { key }), ...sent });
}

/** An answer in the words of the table. */
function cellOf(id: OperationId, { status, body }: Answer): string {
  if (status >= 400) return `${status} ${body.code}`;
  if (id === 'submitEvents') return `200 [${[body.results[0].status, body.results[0].code].filter(Boolean).join(' ')}]`;
  if (id === 'listPeers') return body.data[0].event_count === undefined ? '200' : '200 [counts]';
  if (id === 'listPlayerEvents') return body.data.length === 0 ? '200' : '200 [own events]';
  return String(status);
}

test('every cell of the authorization table is enforced', async () => {
  const on = await groupWith('true');
  const off = await groupWith('false');
  const groupOf = (caller: string) => (caller.startsWith('off') ? off : on);
  const usual = Object.entries(table) as [OperationId, Row][];
  for (const [what, { id, row, body }] of [
    ...usual.map(([id, row]) => [id, { id, row, body: () => undefined }] as const),
    ...Object.entries(bodies),
  ]) {
    const asked = (group: Group, key: string | undefined) => call(group, id, key, null, undefined, body(group));
    for (const [place, caller] of callers.entries()) {
      const group = groupOf(caller);
      assert.is(cellOf(id, await asked(group, group.keys[caller])), row[place], `${what}, ${caller}`);
    }
    for (const [variant, [caller, keyOf]] of Object.entries(variants)) {
      const group = groupOf(variant);
      const cell = row[callers.indexOf(caller)];
      assert.is(cellOf(id, await asked(group, keyOf(group.keys))), cell, `${what}, ${variant}`);
    }
  }
  await on.node.close();
  await off.node.close();
});

const isWrite = ({ auth, method }: Route) => auth === 'required' && method !== 'GET';
const ofOwner = callers.indexOf('owner');

test('a peer with a public key gets the same, but that its writes must be signed with it', async () => {
  const group = await groupWith('true');
  const [own, forged] = [newSigningKey(), newSigningKey()];
  for (const [id, row] of Object.entries(table) as [OperationId, Row][]) {
    for (const [how, key, cell] of [
      ['unsigned', null, '401 signature_missing'],
      ['forged', forged, '401 signature_invalid'],
      ['signed', own, row[ofOwner]],
    ] as const) {
      await setKey(group, null);
      // Registered after the event that the call is about.
      const answer = await call(group, id, group.keys.owner, key, () => setKey(group, own.publicKey));
      assert.is(cellOf(id, answer), isWrite(routes[id]) ? cell : row[ofOwner], `${id}, ${how}`);
    }
  }
  await group.node.close();
});

test('a node that requires signatures asks every peer for one, after its key and its state', async () => {
  const group = await groupWith('true', { REQUEST_SIGNING: 'required' });
  for (const [id, row] of Object.entries(table) as [OperationId, Row][]) {
    if (!isWrite(routes[id])) continue;
    for (const caller of ['no key', 'bad key', 'suspended', 'revoked', 'owner', 'other'] as const) {
      const isActive = caller === 'owner' || caller === 'other';
      const cell = isActive ? '401 signature_missing' : row[callers.indexOf(caller)];
      assert.is(cellOf(id, await callUnprepared(group, id, group.keys[caller])), cell, `${id}, ${caller}`);
    }
  }
  await group.node.close();
});

test.run();
