/** Requests that must be signed, the parts that a signature must cover, and the answer to each invalid one. */
import { hash } from 'node:crypto';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { limits } from '../../../src/limits.js';
import { startTestNode, type TestNode } from '../../support/node.js';
import { temporaryFolder } from '../../support/process.js';
import { type Answer, ask, askRaw } from '../exchange.js';
import { newPlayer, type PeerClient, registerPeer, setStatus } from '../peer-client.js';
import {
  digestOf,
  type HowSigned,
  newSigningKey,
  plainFields,
  type SigningKey,
  send,
  sendSigned,
  signedHeaders,
  type Unsigned,
} from './signer.js';

const salt = 'a salt of sixteen bytes';
const path = '/api/v1/events';

interface Signing {
  readonly node: TestNode;
  readonly peer: PeerClient;
  readonly key: SigningKey;
}

/** A node with a peer that has a public key. */
async function signing(env: Record<string, string> = {}, clock?: { now(): number }): Promise<Signing> {
  const ports = clock === undefined ? {} : { clock };
  const node = await startTestNode({ GROUP_SALT: salt, ...env }, ports);
  const peer = await registerPeer(node.url);
  const key = newSigningKey();
  await setKey(node, peer, key.publicKey);
  return { node, peer, key };
}

async function setKey(node: TestNode, peer: PeerClient, publicKey: string | null): Promise<void> {
  assert.ok((await node.group.changePeer('public_key', peer.peerId, { publicKey }, 'test')).ok);
}

function eventRequest(peer: PeerClient, more = {}): Unsigned {
  return { method: 'POST', path, key: peer.key, body: JSON.stringify(peer.event(more)) };
}

function outcomeOf({ status, body }: Answer): string {
  return body?.code === undefined ? String(status) : `${status} ${body.code}`;
}

const missing = '401 signature_missing';
const invalid = '401 signature_invalid';
const expired = '401 signature_expired';
const replayed = '401 signature_replayed';

test('a peer with a public key writes only by signed requests, and reads as before', async () => {
  const { node, peer, key } = await signing();
  const player_id = newPlayer();
  const event = peer.event({ player_id });
  const post = { method: 'POST', path, key: peer.key, body: JSON.stringify(event) };
  const batch = { ...post, path: `${path}/batch`, body: JSON.stringify({ events: [peer.event({ player_id })] }) };
  const withdrawal = { method: 'DELETE', path: `${path}/${event.event_id}`, key: peer.key };
  const erasure = { ...withdrawal, path: `/api/v1/subjects/${hash('sha256', player_id + salt, 'hex')}` };
  const writes: [Unsigned, string][] = [
    [post, '201'],
    [batch, '200'],
    [withdrawal, '200'],
    [erasure, '200'],
  ];
  for (const [request, status] of writes) {
    const unsigned = await send(node.url, request, { 'content-type': 'application/json', 'x-peer-api-key': peer.key });
    assert.is(outcomeOf(unsigned), missing, request.path);
    assert.is(unsigned.headers['www-authenticate'], 'Signature realm="ptf"');
    assert.match(unsigned.headers['accept-signature'] ?? '', /"@method" "@path" "content-digest" "x-peer-api-key"/);
    assert.is(outcomeOf(await sendSigned(node.url, request, key)), status, request.path);
  }
  assert.is((await ask(node.url, '/api/v1/audit', { key: peer.key })).status, 200);
  await node.close();
});

test('other peers need no signature unless the node requires one of all', async () => {
  for (const [REQUEST_SIGNING, unsigned, signed] of [
    ['optional', '201', missing],
    ['required', missing, missing],
    ['off', '201', '201'],
  ] as const) {
    const { node, peer } = await signing({ REQUEST_SIGNING });
    const other = await registerPeer(node.url);
    assert.is(outcomeOf(await other.submit()), unsigned, REQUEST_SIGNING);
    assert.is(outcomeOf(await peer.submit()), signed, REQUEST_SIGNING);
    await node.close();
  }
});

test('a public key comes with the registration, from the operator, and goes by the operator', async () => {
  await using node = await startTestNode();
  const key = newSigningKey();
  const registration = { peer_name: 'Peer', game_ids: ['arena'], public_key: key.publicKey };
  const { body, status } = await ask(node.url, '/api/v1/peers/register', { json: registration });
  assert.is(status, 201);
  const registered = { ...(await registerPeer(node.url)), peerId: body.peer_id, key: body.api_key };
  const request = (): Unsigned => eventRequest(registered, { peer_id: registered.peerId });
  assert.is(outcomeOf(await sendSigned(node.url, request(), key)), '201');
  const other = newSigningKey();
  await setKey(node, registered, other.publicKey);
  assert.is(outcomeOf(await sendSigned(node.url, request(), key)), invalid);
  assert.is(outcomeOf(await sendSigned(node.url, request(), other)), '201');
  await setKey(node, registered, null);
  assert.is(
    outcomeOf(
      await ask(node.url, path, {
        key: registered.key,
        raw: request().body!,
        headers: { 'content-type': 'application/json' },
      }),
    ),
    '201',
  );
  const tail = await node.group.auditTail(2);
  assert.ok(tail.ok);
  assert.equal(
    tail.value.entries.map(({ action }) => action),
    ['peer_public_key_set', 'peer_public_key_removed'],
  );
});

test('a public key that is not 32 bytes in base64url is refused at registration', async () => {
  await using node = await startTestNode();
  const good = newSigningKey().publicKey;
  for (const public_key of ['', good.slice(1), `${good}=`, `${good.slice(0, 42)}B`, `${good.slice(0, 42)}+`, 7, null]) {
    const json = { peer_name: 'Peer', game_ids: ['arena'], public_key };
    const { status, body } = await ask(node.url, '/api/v1/peers/register', { json });
    assert.is(status, 400, String(public_key));
    assert.is(body.details.field, '/public_key');
  }
});

test('a signature by another key, cut, or of another label is invalid', async () => {
  const { node, peer, key } = await signing();
  const request = eventRequest(peer);
  assert.is(outcomeOf(await sendSigned(node.url, request, newSigningKey())), invalid);
  const headers = await signedHeaders(request, key);
  const signature = /:(.*):/.exec(headers.signature!)![1]!;
  const cut = Buffer.from(signature, 'base64').subarray(0, 63).toString('base64');
  const spoiled = Buffer.from(signature, 'base64');
  spoiled[40]! ^= 1;
  for (const text of [
    `sig=:${cut}:`,
    `sig=:${spoiled.toString('base64')}:`,
    `other=:${signature}:`,
    'sig=1',
    'sig',
    '=',
    `sig=:${signature}`,
  ]) {
    assert.is(outcomeOf(await send(node.url, request, { ...headers, signature: text })), invalid, text);
  }
  for (const text of ['sig=1', 'sig=("@method"', `sig=${'()'.repeat(2_000)}`]) {
    assert.is(
      outcomeOf(await send(node.url, request, { ...headers, 'signature-input': text })),
      invalid,
      text.slice(0, 40),
    );
  }
  assert.is(outcomeOf(await send(node.url, request, headers)), '201');
  await node.close();
});

test('a signature holds for its own body, cut and re-ordered ones are refused', async () => {
  const { node, peer, key } = await signing();
  const request = eventRequest(peer);
  const headers = await signedHeaders(request, key);
  const { body } = request;
  const reordered = JSON.stringify(Object.fromEntries(Object.entries(JSON.parse(body!)).reverse()));
  for (const other of [body!.slice(0, -1), `${body} `, reordered, eventRequest(peer).body!]) {
    // It is not used up by another body: otherwise whoever sees the head could spoil the request.
    assert.is(outcomeOf(await send(node.url, { ...request, body: other }, headers)), invalid);
  }
  // A proxy that changes the digest with the body breaks the signature.
  assert.is(
    outcomeOf(
      await send(node.url, { ...request, body: reordered }, { ...headers, 'content-digest': digestOf(reordered) }),
    ),
    invalid,
  );
  assert.is(outcomeOf(await send(node.url, request, headers)), '201');
  await node.close();
});

test('a signature holds for its own target, method, key and order of components', async () => {
  const { node, peer, key } = await signing();
  const other = await registerPeer(node.url);
  await setKey(node, other, key.publicKey);
  const [one, two] = [peer.event(), peer.event()];
  for (const event of [one, two])
    await sendSigned(node.url, { ...eventRequest(peer), body: JSON.stringify(event) }, key);
  const withdrawal = { method: 'DELETE', path: `${path}/${one.event_id}`, key: peer.key };
  const headers = await signedHeaders(withdrawal, key);
  assert.is(outcomeOf(await send(node.url, { ...withdrawal, path: `${path}/${two.event_id}` }, headers)), invalid);
  assert.is(outcomeOf(await send(node.url, { ...withdrawal, path: `${withdrawal.path}?a=b` }, headers)), invalid);
  const event = eventRequest(peer);
  const ofEvent = await signedHeaders(event, key);
  assert.is(outcomeOf(await send(node.url, { ...event, path: `${path}/batch` }, ofEvent)), invalid);
  assert.is(outcomeOf(await send(node.url, event, { ...ofEvent, 'x-peer-api-key': other.key })), invalid);
  const input = ofEvent['signature-input']!.replace('("@method" "@path"', '("@path" "@method"');
  assert.is(outcomeOf(await send(node.url, event, { ...ofEvent, 'signature-input': input })), invalid);
  assert.is(outcomeOf(await send(node.url, event, ofEvent)), '201');
  assert.is(outcomeOf(await send(node.url, withdrawal, headers)), '200');
  await node.close();
});

test('a signature is taken within 300 s of its creation, and not after it expires', async () => {
  const { node, peer, key } = await signing();
  const now = Math.floor(Date.now() / 1000);
  const cases: [HowSigned, string][] = [
    [{ created: now - limits.signatureWindowS - 2 }, expired],
    [{ created: now + limits.signatureWindowS + 60 }, expired],
    [{ created: now - limits.signatureWindowS + 30 }, '201'],
    [{ created: now + limits.signatureWindowS - 30 }, '201'],
    [{ created: now, expires: now - 5 }, expired],
    [{ created: now, expires: now + 60 }, '201'],
    [{ created: null }, invalid],
    [{ alg: 'rsa-pss-sha512' }, invalid],
  ];
  for (const [how, cell] of cases) {
    assert.is(outcomeOf(await sendSigned(node.url, eventRequest(peer), key, how)), cell, JSON.stringify(how));
  }
  await node.close();
});

test('an accepted signed request is refused when repeated, and when it comes twice at once', async () => {
  const { node, peer, key } = await signing();
  const request = eventRequest(peer);
  const headers = await signedHeaders(request, key);
  assert.is(outcomeOf(await send(node.url, request, headers)), '201');
  assert.is(outcomeOf(await send(node.url, request, headers)), replayed);
  assert.is(outcomeOf(await sendSigned(node.url, request, key)), '409 duplicate_event');
  const another = eventRequest(peer);
  const twice = await signedHeaders(another, key);
  const answers = await Promise.all([1, 2, 3].map(() => send(node.url, another, twice)));
  assert.equal(answers.map(outcomeOf).sort(), ['201', replayed, replayed]);
  await node.close();
});

test('every route that writes refuses a late signature, and one that it took before', async () => {
  const { node, peer, key } = await signing();
  const player_id = newPlayer();
  const event = peer.event({ player_id });
  const subject = `/api/v1/subjects/${hash('sha256', player_id + salt, 'hex')}`;
  const post = { method: 'POST', key: peer.key };
  const writes: [Unsigned, string][] = [
    [{ ...post, path, body: JSON.stringify(event) }, '201'],
    [{ ...post, path: `${path}/batch`, body: JSON.stringify({ events: [peer.event({ player_id })] }) }, '200'],
    [{ ...post, path: `${subject}/disputes`, body: JSON.stringify({ text: 'not so' }) }, '201'],
    [{ method: 'DELETE', path: `${path}/${event.event_id}`, key: peer.key }, '200'],
    [{ method: 'DELETE', path: subject, key: peer.key }, '200'],
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

test('a replayed signature is refused until its own time is over, whatever the clock does meanwhile', async () => {
  let aheadMs = 0;
  const { node, peer, key } = await signing({}, { now: () => Date.now() + aheadMs });
  const request = eventRequest(peer);
  const headers = await signedHeaders(request, key);
  assert.is(outcomeOf(await send(node.url, request, headers)), '201');
  aheadMs = (limits.signatureWindowS - 10) * 1000;
  assert.is(outcomeOf(await send(node.url, request, headers)), replayed);
  aheadMs = (limits.signatureWindowS + 10) * 1000;
  assert.is(outcomeOf(await send(node.url, request, headers)), expired);
  await node.close();
});

test('after a restart a repeated erasure is refused, and a repeated event or withdrawal changes nothing', async () => {
  const DATA_DIR = temporaryFolder();
  const { node, peer, key } = await signing({ DATA_DIR });
  const player_id = newPlayer();
  const [event, gone] = [peer.event({ player_id }), peer.event({ player_id })];
  const requests = [event, gone].map((one) => ({ ...eventRequest(peer), body: JSON.stringify(one) }));
  const withdrawal = { method: 'DELETE', path: `${path}/${gone.event_id}`, key: peer.key };
  const erasure = { ...withdrawal, path: `/api/v1/subjects/${hash('sha256', player_id + salt, 'hex')}` };
  const all = [...requests, withdrawal, erasure];
  const headers = await Promise.all(all.map((request) => signedHeaders(request, key)));
  const sendAll = async (url: string) => {
    const answers: string[] = [];
    for (const [i, request] of all.entries()) answers.push(outcomeOf(await send(url, request, headers[i]!)));
    return answers;
  };
  assert.equal(await sendAll(node.url), ['201', '201', '200', '200']);
  await node.close();
  await using again = await startTestNode({ GROUP_SALT: salt, DATA_DIR });
  const reported = { ...eventRequest(peer), body: JSON.stringify(peer.event({ player_id })) };
  assert.is(outcomeOf(await sendSigned(again.url, reported, key)), '201');
  assert.equal(await sendAll(again.url), [
    '409 duplicate_event',
    '409 duplicate_event',
    '404 event_not_found',
    replayed,
  ]);
  // The second in which the node started may be the present one.
  const created = Math.floor(Date.now() / 1000) + 1;
  assert.is(outcomeOf(await sendSigned(again.url, erasure, key, { created })), '200');
});

test('a proxy that changes case and order of fields, or splits and adds some, breaks no signature', async () => {
  const { node, peer, key } = await signing();
  const port = Number(new URL(node.url).port);
  const request = eventRequest(peer);
  const rawOf = async (change: (fields: [string, string][]) => [string, string][]): Promise<Answer> => {
    const unsigned = eventRequest(peer);
    const headers = await signedHeaders(
      {
        ...unsigned,
        headers: { 'content-digest': `${digestOf(unsigned.body!)}, ${digestOf(unsigned.body!, 'sha-512')}` },
      },
      key,
    );
    const fields = change(Object.entries(headers));
    const lines = fields.map(([name, value]) => `${name}: ${value}\r\n`).join('');
    const head = `POST ${path} HTTP/1.1\r\nHost: node.example\r\n${lines}Content-Length: ${unsigned.body!.length}\r\nConnection: close\r\n\r\n`;
    return (await askRaw(port, [head, unsigned.body!], { method: 'POST', path }))[0]!;
  };
  const named = (change: (name: string) => string) => (fields: [string, string][]) =>
    fields.map(([name, value]): [string, string] => [change(name), value]);
  assert.is(outcomeOf(await rawOf(named((name) => name.toLowerCase()))), '201');
  assert.is(outcomeOf(await rawOf(named((name) => name.toUpperCase()))), '201');
  assert.is(outcomeOf(await rawOf((fields) => fields.reverse())), '201');
  assert.is(
    outcomeOf(await rawOf((fields) => [['Via', '1.1 proxy'], ['X-Forwarded-For', '10.0.0.1'], ...fields])),
    '201',
  );
  // One field in two lines, as a recipient combines them (RFC 9110, section 5.3).
  const split = (fields: [string, string][]) =>
    fields.flatMap(([name, value]): [string, string][] =>
      name === 'content-digest' ? value.split(', ').map((part): [string, string] => [name, part]) : [[name, value]],
    );
  assert.is(outcomeOf(await rawOf(split)), '201');
  const blanks = (fields: [string, string][]) =>
    fields.map(([name, value]): [string, string] => [name, `  ${value} \t`]);
  assert.is(outcomeOf(await rawOf(blanks)), '201');
  // A signature of the proxy's own before and behind that of the peer.
  const own = 'proxy=("@method");created=1618884473;keyid="proxy"';
  const added = (fields: [string, string][]): [string, string][] => [
    ['signature-input', own],
    ...fields,
    ['signature', 'proxy=:AAAA:'],
  ];
  assert.is(outcomeOf(await rawOf(added)), '201');
  assert.is(outcomeOf(await send(node.url, request, await signedHeaders(request, key))), '201');
  await node.close();
});

test('a signature that leaves out a part of the request is invalid', async () => {
  const { node, peer, key } = await signing();
  const all = [...plainFields, 'content-digest'];
  for (const left of all) {
    const fields = all.filter((name) => name !== left);
    const answer = await sendSigned(node.url, eventRequest(peer), key, { fields });
    assert.is(outcomeOf(answer), invalid, left);
    assert.ok(answer.body.error.includes(left), answer.body.error);
  }
  const twice = await signedHeaders(eventRequest(peer), key);
  const input = twice['signature-input']!.replace('"@method"', '"@method" "@method"');
  assert.is(outcomeOf(await send(node.url, eventRequest(peer), { ...twice, 'signature-input': input })), invalid);
  const query = { ...eventRequest(peer), path: `${path}?dry=1` };
  assert.is(outcomeOf(await sendSigned(node.url, query, key)), invalid);
  assert.is(outcomeOf(await sendSigned(node.url, query, key, { fields: [...all, '@query'] })), '201');
  await node.close();
});

test('a signer may cover more: the whole target by either scheme, the authority, and other fields', async () => {
  const { node, peer, key } = await signing();
  const port = Number(new URL(node.url).port);
  const rest = ['@method', 'x-peer-api-key', 'content-digest'];
  for (const [fields, scheme] of [
    [['@target-uri', ...rest], 'http'],
    [['@target-uri', ...rest], 'https'],
    [['@request-target', ...rest], 'http'],
    [['@path', '@authority', '@scheme', 'content-type', ...rest], 'https'],
  ] as const) {
    const request = eventRequest(peer);
    const headers = await signedHeaders(request, key, { fields, scheme });
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
    const head = `POST ${path} HTTP/1.1\r\nHost: Node.Example\r\n${lines.join('')}Content-Length: ${request.body!.length}\r\nConnection: close\r\n\r\n`;
    const [answer] = await askRaw(port, [head, request.body!], { method: 'POST', path });
    assert.is(outcomeOf(answer!), '201', `${fields} ${scheme}`);
  }
  const unknown = { ...eventRequest(peer), headers: { 'x-gone': 'a' } };
  const headers = await signedHeaders(unknown, key, { fields: ['@path', 'x-gone', ...rest] });
  delete headers['x-gone'];
  assert.is(outcomeOf(await send(node.url, unknown, headers)), invalid);
  await node.close();
});

test('the signature is checked after the key and before the body, whose digest comes after its size', async () => {
  const { node, peer, key } = await signing();
  const suspended = await registerPeer(node.url);
  await setKey(node, suspended, key.publicKey);
  await setStatus(node, suspended.peerId, 'suspended');
  const forged = async (request: Unsigned): Promise<string> =>
    outcomeOf(await sendSigned(node.url, request, newSigningKey()));
  assert.is(await forged({ ...eventRequest(peer), key: 'ptf_dev_nobody' }), '401 invalid_api_key');
  assert.is(await forged(eventRequest(suspended)), '403 peer_not_active');
  assert.is(await forged({ ...eventRequest(peer), body: 'x'.repeat(20_000) }), invalid);
  assert.is(await forged({ ...eventRequest(peer), body: 'no JSON' }), invalid);
  const ours = async (body: string, change: Record<string, string> = {}, sent = body): Promise<string> => {
    const request = { ...eventRequest(peer), body };
    const headers = { ...(await signedHeaders(request, key)), ...change };
    return outcomeOf(await send(node.url, { ...request, body: sent }, headers));
  };
  assert.is(await ours('{}', { 'content-type': 'text/plain' }, 'other'), '415 unsupported_media_type');
  assert.is(await ours('{}', {}, 'x'.repeat(20_000)), '413 payload_too_large');
  assert.is(await ours('{}', {}, 'no JSON'), invalid);
  assert.is(await ours('no JSON'), '400 malformed_json');
  assert.is(await ours('{}'), '400 schema_validation_failed');
  await node.close();
});

test.run();
