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
const unreported = '422 nothing_to_dispute';

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
  streamVerdicts: [missing, missing, invalid, '200', '200', inactive, inactive, '200', '200'],
  listAudit: [missing, missing, invalid, '200', '200', inactive, inactive, '200', '200'],
  submitEvent: [missing, missing, invalid, '201', '422 peer_id_mismatch', inactive, inactive, '201', '201'],
  submitEvents: [
    missing,
    missing,
    invalid,
    '200 [201]',
    '200 [422 peer_id_mismatch]',
    inactive,
    inactive,
    '200 [201]',
    '200 [201]',
  ],
  withdrawEvent: [missing, missing, invalid, '200', '404 event_not_found', inactive, inactive, '200', '200'],
  listErasedEvents: [missing, missing, invalid, '200', '200', inactive, inactive, '200', '200'],
  // Erasure is a right of the player, whichever peer passes it on.
  eraseSubject: [missing, missing, invalid, '200', '200', inactive, inactive, '200', '200'],
  // A caller that knows the player may dispute, even if no peer reported the player.
  openDispute: [missing, missing, invalid, '201', '201', inactive, inactive, '201', '201'],
};

/** Requests whose answer depends on their body, too. */
const bodies: Readonly<Record<string, { id: OperationId; body: (group: Group) => object; row: Row }>> = {
  'a dispute with the peer that reported': {
    id: 'openDispute',
    body: ({ owner }) => ({ text: 'not so', peer_id: owner.peerId }),
    row: table.openDispute,
  },
  'a dispute with a peer that did not report': {
    id: 'openDispute',
    body: ({ other }) => ({ text: 'not so', peer_id: other.peerId }),
    row: [missing, missing, invalid, unreported, unreported, inactive, inactive, unreported, unreported],
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
  const [owner, other, suspended, revoked] = await Promise.all(
    ['Owner', 'Other', 'Suspended', 'Revoked'].map((name) => registerPeer(node.url, name)),
  );
  if (!owner || !other || !suspended || !revoked) throw new Error('a peer is missing');
  await setStatus(node, suspended.peerId, 'suspended');
  await setStatus(node, revoked.peerId, 'revoked');
  const bad = 'ptf_dev_nobody';
  return {
    node,
    owner,
    other,
    keys: {
      'no key': undefined,
      'blank key': ' \t ',
      'bad key': bad,
      owner: owner.key,
      other: other.key,
      suspended: suspended.key,
      revoked: revoked.key,
      off: undefined,
      'off, bad key': bad,
    },
  };
}

/** The same of an owner that has a public key from the call on; `key` null: unsigned. */
async function callAsSigner(group: Group, id: OperationId, publicKey: string, key: SigningKey | null): Promise<Answer> {
  const { node, owner, keys } = group;
  assert.ok((await node.group.changePeer('public_key', owner.peerId, { publicKey: null }, 'test')).ok);
  return call(group, id, keys.owner, key, async () => {
    assert.ok((await node.group.changePeer('public_key', owner.peerId, { publicKey }, 'test')).ok);
  });
}

/** Asks for what does not exist: the caller is refused before that is seen. */
function callUnprepared({ node, owner }: Group, id: OperationId, key: string | undefined): Promise<Answer> {
  const { method, path } = routes[id];
  const target = path.replace('{hash}', 'ab'.repeat(32)).replace('{event_id}', 'nothing');
  const json = method === 'POST' ? owner.event() : undefined;
  return ask(node.url, target, {
    method,
    ...(key === undefined ? {} : { key }),
    ...(json === undefined ? {} : { json }),
  });
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
  if (signing !== null && key !== undefined) {
    const body = json === undefined ? {} : { body: JSON.stringify(json) };
    const target = id === 'getTrustScores' ? `${path}?ids=${player_id}` : path;
    return sendSigned(node.url, { method: route.method, path: target, key, ...body }, signing);
  }
  return ask(node.url, id === 'getTrustScores' ? `${path}?ids=${player_id}` : path, {
    method: route.method,
    ...(key === undefined ? {} : { key }),
    ...(json === undefined ? {} : { json }),
  });
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

test('a peer with a public key gets the same, but that its writes must be signed with it', async () => {
  const group = await groupWith('true');
  const { node, owner } = group;
  const [own, forged] = [newSigningKey(), newSigningKey()];
  const isOwn = callers.indexOf('owner');
  for (const [id, row] of Object.entries(table) as [OperationId, Row][]) {
    const { auth, method }: Route = routes[id];
    const isWrite = auth === 'required' && method !== 'GET';
    for (const [how, key, cell] of [
      ['unsigned', null, '401 signature_missing'],
      ['forged', forged, '401 signature_invalid'],
      ['signed', own, row[isOwn]],
    ] as const) {
      // Registered after the event that the call is about.
      assert.is(
        cellOf(id, await callAsSigner(group, id, own.publicKey, key)),
        isWrite ? cell : row[isOwn],
        `${id}, ${how}`,
      );
    }
  }
  assert.ok((await node.group.changePeer('public_key', owner.peerId, { publicKey: null }, 'test')).ok);
  await node.close();
});

test('a node that requires signatures asks every peer for one, after its key and its state', async () => {
  const group = await groupWith('true', { REQUEST_SIGNING: 'required' });
  for (const [id, row] of Object.entries(table) as [OperationId, Row][]) {
    const { auth, method }: Route = routes[id];
    if (auth !== 'required' || method === 'GET') continue;
    for (const caller of ['no key', 'bad key', 'suspended', 'revoked', 'owner', 'other'] as const) {
      const isActive = caller === 'owner' || caller === 'other';
      const answer = await callUnprepared(group, id, group.keys[caller]);
      assert.is(
        cellOf(id, answer),
        isActive ? '401 signature_missing' : row[callers.indexOf(caller)],
        `${id}, ${caller}`,
      );
    }
  }
  await group.node.close();
});

test.run();
