/** Commands keep their arguments on the way to the leader. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { keyOf } from '../../src/core/tables/event-columns.js';
import type { GroupApi, PeerView } from '../../src/group/api.js';
import {
  type ChangeArgs,
  type ChangeCall,
  type ChangeName,
  encodeCall,
  execute,
  peerIdOf,
} from '../../src/operations/changes.js';

const subject = Buffer.alloc(32, 7);
const key = keyOf(subject);
const peer = { peerId: 'p', status: 'active', keyDigest: 'digest' } as PeerView;

/** Sends a command through JSON to a leader that knows the peers, and returns the arguments that its method gets. */
async function received<N extends ChangeName>(name: N, args: ChangeArgs<N>, known: PeerView = peer) {
  let got: unknown = null;
  const peers: Partial<GroupApi> = {
    peerById: (id) => (id === known.peerId ? known : undefined),
    peerByKeyDigest: (digest) => (digest === known.keyDigest ? known : undefined),
  };
  const leader = new Proxy(peers as GroupApi, {
    get: (target, method) =>
      Reflect.get(target, method) ??
      (async (...values: unknown[]) => {
        got = values;
        return { ok: true, value: String(method) };
      }),
  });
  const call = JSON.parse(JSON.stringify(encodeCall(name, args))) as ChangeCall<N>;
  const outcome = (await execute(leader, call)) as unknown;
  const codes = [outcome].flat().map((one) => (one as { readonly code?: string }).code);
  return { outcome, codes, got };
}

test('the leader gets the arguments that the node was given', async () => {
  const event = { eventId: 'e', subject: key, severity: 0.5 } as unknown as ChangeArgs<'submit'>[1][number];
  const unhashed = { ...event, subject: null };
  const registration = { peerName: 'p', gameIds: ['g'] } as unknown as ChangeArgs<'register'>[0];
  const calls: { [N in ChangeName]: ChangeArgs<N> } = {
    submit: [peer, [event, unhashed], 'address'],
    withdraw: [peer, 'e'],
    erase: [null, subject],
    dispute: [peer, subject, 'why', 'other'],
    exportSubject: [subject, 'op'],
    confirmErasure: [subject, 'op'],
    refuseErasure: [subject, 'banned twice', 'op'],
    allowPlayer: [subject, 5, 'note', 'op'],
    disallowPlayer: [subject, 'op'],
    register: [registration, 'op', true],
    changePeer: ['peer_status', 'p', { status: 'revoked' }, 'op'],
    rotateKey: ['p', 60_000, 'op'],
    preTrust: ['add', 'p', 'op'],
    purgePeers: [1_000, 'op'],
    relatePeers: ['same_owner' as ChangeArgs<'relatePeers'>[0], 'p', 'q', 'op'],
    changeOrigin: ['add', 'list', 'op'],
    changeSetting: ['PEERS_MAX', 5, 'op'],
    decideDispute: ['uphold' as ChangeArgs<'decideDispute'>[0], 'd', ['p'], 'op'],
  };
  for (const [name, args] of Object.entries(calls) as [ChangeName, ChangeArgs<ChangeName>][]) {
    const { got, outcome } = await received(name, args);
    assert.equal(got, args, name);
    assert.equal(outcome, { ok: true, value: name });
  }
});

test('an argument that was left out stays so', async () => {
  assert.equal((await received('dispute', [peer, subject, 'why', undefined])).got, [peer, subject, 'why']);
  assert.equal((await received('submit', [null, []])).got, [null, []]);
});

test("the leader's state decides whether the caller may act, and each event of a batch is refused", async () => {
  const events = [{ subject: null }, { subject: null }] as unknown as ChangeArgs<'submit'>[1];
  for (const [what, known, code] of [
    ['a revoked peer', { ...peer, status: 'revoked' }, 'peer_not_active'],
    ['an unknown peer', { ...peer, peerId: 'another' }, 'invalid_api_key'],
    // Also if the sending node does not know it yet.
    ['a key that was replaced', { ...peer, keyDigest: 'another' }, 'invalid_api_key'],
  ] as const) {
    const one = await received('withdraw', [peer, 'e'], known as PeerView);
    assert.equal([one.got, one.codes], [null, [code]], what);
    assert.equal((await received('submit', [peer, events], known as PeerView)).codes, [code, code], what);
  }
  const { keyDigest: _, ...unknown } = peer;
  assert.is((await received('withdraw', [unknown as PeerView, 'e'])).got, null, 'a peer is never let in without a key');
});

test('only commands of the list are executed', () => {
  const group = { trust: () => assert.unreachable(), peerById: () => assert.unreachable() } as unknown as GroupApi;
  for (const name of ['trust', 'toString', '__proto__', 'verify'] as unknown as ChangeName[]) {
    assert.is(execute(group, { name, args: [] }), undefined);
  }
  const earlier = { caller: null, subject: '' } as unknown as [];
  assert.is(execute(group, { name: 'erase', args: earlier }), undefined);
});

test('a change of a peer that names no caller is none', () => {
  const leader = { peerById: () => peer } as unknown as GroupApi;
  for (const name of ['submit', 'withdraw', 'erase', 'dispute'] as const)
    assert.is(execute(leader, { name, args: [] }), undefined);
});

test('a change names the peer that asked for it, and none where the operator or nobody with a key did', () => {
  const peerOf = <N extends ChangeName>(name: N, args: ChangeArgs<N>) => peerIdOf(encodeCall(name, args));
  assert.equal([peerOf('withdraw', [peer, 'e']), peerOf('erase', [null, subject])], ['p', null]);
  assert.equal([peerOf('rotateKey', ['p', 0, 'op']), peerOf('disallowPlayer', [subject, 'op'])], [null, null]);
});

test.run();
