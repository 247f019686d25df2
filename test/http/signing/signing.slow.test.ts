/** Signed requests on a real node: keys that come and go, repeats, and heads that proxies and signers change. */
import { hash } from 'node:crypto';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { limits } from '../../../src/limits.js';
import { startTestNode, type TestNode } from '../../support/node.js';
import { temporaryFolder } from '../../support/process.js';
import { type Answer, ask, askRaw } from '../exchange.js';
import { newPlayer, type PeerClient, registerPeer } from '../peer-client.js';
import {
  digestOf,
  type HowSigned,
  newSigningKey,
  type SigningKey,
  send,
  sendSigned,
  signedHeaders,
  type Unsigned,
} from './signer.js';

const salt = 'a salt of sixteen bytes';
const path = '/api/v1/events';

/** A node with a peer that has a public key. */
async function signing(env: Record<string, string> = {}) {
  const node = await startTestNode({ GROUP_SALT: salt, ...env });
  const peer = await registerPeer(node.url);
  const key = newSigningKey();
  await setKey(node, peer, key.publicKey);
  return { node, peer, key };
}

async function setKey(node: TestNode, peer: PeerClient, publicKey: string | null): Promise<void> {
  assert.ok((await node.group.changePeer('public_key', peer.peerId, { publicKey }, 'test')).ok);
}

function eventRequest(peer: PeerClient, event = peer.event()): Unsigned {
  return { method: 'POST', path, key: peer.key, body: JSON.stringify(event) };
}

const erasureOf = ({ key }: PeerClient, player: string): Unsigned => ({
  method: 'DELETE',
  path: `/api/v1/subjects/${hash('sha256', player + salt, 'hex')}`,
  key,
});

function outcomeOf({ status, body }: Answer): string {
  return body?.code === undefined ? String(status) : `${status} ${body.code}`;
}

const expired = '401 signature_expired';
const replayed = '401 signature_replayed';

test('a public key comes with the registration, from the operator, and goes by the operator', async () => {
  await using node = await startTestNode();
  const [key, other] = [newSigningKey(), newSigningKey()];
  const json = { peer_name: 'Peer', game_ids: ['arena'], public_key: key.publicKey };
  const { body } = await ask(node.url, '/api/v1/peers/register', { json });
  const peer = { ...(await registerPeer(node.url)), peerId: body.peer_id, key: body.api_key };
  const sentBy = async (signer: SigningKey | null) => {
    const request = eventRequest(peer, peer.event({ peer_id: peer.peerId }));
    const headers = { 'content-type': 'application/json', 'x-peer-api-key': peer.key };
    return outcomeOf(
      await (signer === null ? send(node.url, request, headers) : sendSigned(node.url, request, signer)),
    );
  };
  assert.equal([await sentBy(null), await sentBy(key)], ['401 signature_missing', '201']);
  await setKey(node, peer, other.publicKey);
  assert.equal([await sentBy(key), await sentBy(other)], ['401 signature_invalid', '201']);
  await setKey(node, peer, null);
  assert.is(await sentBy(null), '201');
  const tail = await node.group.auditTail(2);
  const actions = tail.ok && tail.value.entries.map(({ action }) => action);
  assert.equal(actions, ['peer_public_key_set', 'peer_public_key_removed']);
});

test('every route that writes refuses a late signature, and one that it took before', async () => {
  const { node, peer, key } = await signing();
  const player_id = newPlayer();
  const event = peer.event({ player_id });
  const erasure = erasureOf(peer, player_id);
  const post = { method: 'POST', key: peer.key };
  const writes: [Unsigned, string][] = [
    [eventRequest(peer, event), '201'],
    [{ ...post, path: `${path}/batch`, body: JSON.stringify({ events: [peer.event({ player_id })] }) }, '200'],
    [{ ...post, path: `${erasure.path}/disputes`, body: JSON.stringify({ text: 'not so' }) }, '201'],
    [{ method: 'DELETE', path: `${path}/${event.event_id}`, key: peer.key }, '200'],
    [erasure, '200'],
  ];
  const late = Math.floor(Date.now() / 1000) - limits.signatureWindowS - 2;
  for (const [request, status] of writes) {
    const name = `${request.method} ${request.path}`;
    assert.is(outcomeOf(await sendSigned(node.url, request, key, { created: late })), expired, name);
    const headers = await signedHeaders(request, key);
    assert.is(outcomeOf(await send(node.url, request, headers)), status, name);
    assert.is(outcomeOf(await send(node.url, request, headers)), replayed, name);
  }
  await node.close();
});

test('after a restart a repeated erasure is refused, and a repeated event or withdrawal changes nothing', async () => {
  const DATA_DIR = temporaryFolder();
  const { node, peer, key } = await signing({ DATA_DIR });
  const player_id = newPlayer();
  const [event, gone] = [peer.event({ player_id }), peer.event({ player_id })];
  const withdrawal = { method: 'DELETE', path: `${path}/${gone.event_id}`, key: peer.key };
  const erasure = erasureOf(peer, player_id);
  const all = [eventRequest(peer, event), eventRequest(peer, gone), withdrawal, erasure];
  const headers = await Promise.all(all.map((request) => signedHeaders(request, key)));
  const sendAll = async (url: string) => {
    const answers: string[] = [];
    for (const [i, request] of all.entries()) answers.push(outcomeOf(await send(url, request, headers[i]!)));
    return answers;
  };
  assert.equal(await sendAll(node.url), ['201', '201', '200', '200']);
  await node.close();
  await using again = await startTestNode({ GROUP_SALT: salt, DATA_DIR });
  assert.is(outcomeOf(await sendSigned(again.url, eventRequest(peer, peer.event({ player_id })), key)), '201');
  const duplicate = '409 duplicate_event';
  assert.equal(await sendAll(again.url), [duplicate, duplicate, '404 event_not_found', replayed]);
  // The second in which the node started may be the present one.
  const created = Math.floor(Date.now() / 1000) + 1;
  assert.is(outcomeOf(await sendSigned(again.url, erasure, key, { created })), '200');
});

type Fields = readonly (readonly [name: string, value: string])[];

/** What a proxy may do to the fields of a head. */
const changes: Readonly<Record<string, (fields: Fields) => Fields>> = {
  'lower case': (fields) => fields.map(([name, value]) => [name.toLowerCase(), value]),
  'upper case': (fields) => fields.map(([name, value]) => [name.toUpperCase(), value]),
  'another order': (fields) => fields.toReversed(),
  'fields of its own': (fields) => [['Via', '1.1 proxy'], ['X-Forwarded-For', '10.0.0.1'], ...fields],
  // As a recipient combines them (RFC 9110, section 5.3).
  'one field in two lines': (fields) =>
    fields.flatMap(
      ([name, value]): Fields =>
        name === 'content-digest' ? value.split(', ').map((part) => [name, part]) : [[name, value]],
    ),
  blanks: (fields) => fields.map(([name, value]) => [name, `  ${value} \t`]),
  'a signature of its own': (fields) => [
    ['signature-input', 'proxy=("@method");created=1618884473;keyid="proxy"'],
    ...fields,
    ['signature', 'proxy=:AAAA:'],
  ],
};

const rest = ['@method', 'x-peer-api-key', 'content-digest'];

/** What a signer may cover beyond the least. */
const covers: Readonly<Record<string, HowSigned>> = {
  'the target by http': { fields: ['@target-uri', ...rest], scheme: 'http' },
  'the target by https': { fields: ['@target-uri', ...rest], scheme: 'https' },
  'the target as sent': { fields: ['@request-target', ...rest] },
  'other fields': { fields: ['@path', '@authority', '@scheme', 'content-type', ...rest], scheme: 'https' },
};

test('a signature may cover more than the least, and no change of a proxy to the fields breaks it', async () => {
  const { node, peer, key } = await signing();
  const sent = async (how: HowSigned, change: (fields: Fields) => Fields): Promise<string> => {
    const request = eventRequest(peer);
    const body = request.body!;
    const headers = { 'content-digest': `${digestOf(body)}, ${digestOf(body, 'sha-512')}` };
    const fields = change(Object.entries(await signedHeaders({ ...request, headers }, key, how)));
    const lines = [...fields.map((field) => field.join(': ')), `Content-Length: ${body.length}`, 'Connection: close'];
    const head = `POST ${path} HTTP/1.1\r\nHost: Node.Example\r\n${lines.join('\r\n')}\r\n\r\n`;
    return outcomeOf((await askRaw(Number(new URL(node.url).port), [head, body], { method: 'POST', path }))[0]!);
  };
  for (const [what, change] of Object.entries(changes)) assert.is(await sent({}, change), '201', what);
  for (const [what, how] of Object.entries(covers)) assert.is(await sent(how, (fields) => fields), '201', what);
  await node.close();
});

test.run();
