/** A node of a cluster decides changes itself if it leads, and otherwise asks the leader. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { createClusterGroup } from '../../src/cluster/cluster-group.js';
import { LinkError } from '../../src/cluster/link-client.js';
import type { refused } from '../../src/errors.js';
import type { GroupApi, PeerView } from '../../src/group/api.js';
import type { ClusterOperations } from '../../src/group/cluster-api.js';
import { logUnreachable, noLeader } from '../../src/group/refusals.js';
import type { ChangeName } from '../../src/operations/changes.js';

const decided = { ok: true, value: null } as const;

/** A node whose leader answers as `ask` states; `calls` lists what was decided here and what was asked elsewhere. */
function node(ask: () => unknown, isLeaderAtFirst = false, known?: PeerView) {
  const calls: string[] = [];
  const member = { decides: isLeaderAtFirst, isUnreachable: false, refresh: async () => true };
  const local = new Proxy({} as GroupApi, {
    get: (_, name) =>
      name === 'peerById'
        ? () => known
        : async () => {
            calls.push(`here ${String(name)}`);
            return decided;
          },
  });
  const link = {
    ask: async ({ name }: { name: ChangeName }) => {
      calls.push(`asked ${name}`);
      return (await ask()) as never;
    },
    appliedElsewhere: async () => void calls.push('applied elsewhere'),
  };
  return { group: createClusterGroup(local, { member, link }, {} as ClusterOperations), calls, member };
}

test('the leader decides here, and waits for the others where a change must hold everywhere', async () => {
  const { group, calls } = node(() => assert.unreachable(), true);
  assert.equal(await group.erase(null, new Uint8Array(32)), decided);
  assert.equal(await group.changePeer('public_key', 'p', { publicKey: null }, 'op'), decided);
  assert.equal(calls, ['here erase', 'here changePeer', 'applied elsewhere']);
});

test('changes of peers, of the allow list, of origins and of disputes are in effect on every node', async () => {
  const { group, calls } = node(() => assert.unreachable(), true);
  const subject = new Uint8Array(32);
  await group.register({} as Parameters<GroupApi['register']>[0], 'op');
  await group.changePeer('peer_status', 'p', { status: 'revoked' }, 'op');
  await group.rotateKey('p', 0, 'op');
  await group.preTrust('add', 'p', 'op');
  await group.purgePeers(0, 'op');
  await group.allowPlayer(subject, 0, '', 'op');
  await group.disallowPlayer(subject, 'op');
  await group.changeOrigin('add', 'list', 'op');
  assert.is(calls.filter((call) => call === 'applied elsewhere').length, 8);
});

test('a caller that was revoked since its request was admitted is refused by the leader, too', async () => {
  const admitted = { peerId: 'p', status: 'active' } as PeerView;
  const { group, calls } = node(() => assert.unreachable(), true, { ...admitted, status: 'revoked' });
  for (const refused of [
    await group.withdraw(admitted, 'e'),
    await group.erase(admitted, new Uint8Array(32)),
    await group.dispute(admitted, new Uint8Array(32), 'why'),
  ]) {
    assert.is((refused as { code: string }).code, 'peer_not_active');
  }
  assert.equal(calls, []);
});

test('a leader that steps down while it decides waits for the others all the same', async () => {
  const { group, calls, member } = node(() => assert.unreachable(), true);
  const change = group.changePeer('public_key', 'p', { publicKey: null }, 'op');
  member.decides = false;
  await change;
  assert.equal(calls, ['here changePeer', 'applied elsewhere']);
});

test('a follower asks the leader, which waits for the others itself', async () => {
  const { group, calls } = node(() => decided);
  assert.equal(await group.changePeer('public_key', 'p', { publicKey: null }, 'op'), decided);
  assert.equal(calls, ['asked changePeer']);
});

test('a node that became the leader while a command waited decides it', async () => {
  const { group, calls, member } = node(() => {
    member.decides = true;
    return null;
  });
  assert.equal(await group.submit(null, []), decided);
  member.decides = false;
  assert.equal(await group.changePeer('public_key', 'p', { publicKey: null }, 'op'), decided);
  assert.equal(calls, ['asked submit', 'here submit', 'asked changePeer', 'here changePeer', 'applied elsewhere']);
});

test('without a leader every change is refused, and the refusal says if etcd is the cause', async () => {
  for (const ask of [
    () => null,
    () => {
      throw new LinkError('refused', true);
    },
  ]) {
    const { group, member } = node(ask);
    const change = () => group.changePeer('public_key', 'p', { publicKey: null }, 'op');
    assert.equal(await change(), noLeader());
    member.isUnreachable = true;
    assert.equal(await change(), logUnreachable());
  }
});

test('a change that may have been decided is refused as one of unknown outcome', async () => {
  const { group } = node(() => {
    throw new LinkError('reset', false);
  });
  const answer = await group.changePeer('public_key', 'p', { publicKey: null }, 'op');
  assert.not(answer.ok);
  assert.not.equal(answer, noLeader());
  assert.is((answer as ReturnType<typeof refused>).code, 'dependency_unavailable');
});

test.run();
