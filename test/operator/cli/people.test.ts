/** `ptf allow`, and keys of peers that sign, against a running node. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { registerPeer } from '../../http/peer-client.js';
import { startTestNode, type TestNode } from '../../support/node.js';
import { type Ran, runHere } from '../run-here.js';

const subject = 'ab'.repeat(32);
const publicKey = 'JrQLj5P_89iXES9-vFgrIy29clF9CC_oPPsw3c5D0bs';

let node: TestNode;

test.before(async () => {
  node = await startTestNode();
});
test.after(() => node.close());

const ptf = (...args: readonly string[]): Promise<Ran> => runHere(args, node.dir);

async function json(...args: readonly string[]): Promise<Record<string, unknown>> {
  const { code, out } = await ptf('--json', ...args);
  assert.is(code, 0, out);
  return JSON.parse(out);
}

test('a player is allowed to the end of a day, listed with the note, and taken off the list', async () => {
  const added = await json('allow', 'add', subject.toUpperCase(), '--until', '2030-12-31', '--note', 'appeal 4711');
  assert.equal([added.subject_hash, added.until, added.note], [subject, '2031-01-01T00:00:00.000Z', 'appeal 4711']);
  assert.equal(await json('allow', 'list'), { data: [added] });
  const { out } = await ptf('allow', 'list');
  assert.match(out, /2031-01-01.*appeal 4711/);
  const longer = ['--until', '2031-06-01T12:00:00Z', '--note', 'longer', '--by', 'alice'];
  const again = await json('allow', 'add', subject, ...longer);
  assert.is(again.until, '2031-06-01T12:00:00.000Z');
  assert.equal(await json('allow', 'remove', subject), { subject_hash: subject });
  assert.equal(await json('allow', 'list'), { data: [] });
  assert.is((await ptf('allow', 'remove', subject)).code, 1);
  const { data } = (await json('audit', 'tail', '--count', '3')) as { data: { action: string; actor: string }[] };
  assert.equal(
    data.map(({ action, actor }) => [action, actor]),
    [
      ['player_allowed', 'operator'],
      ['player_allowed', 'operator:alice'],
      ['player_allowance_ended', 'operator'],
    ],
  );
});

test('an entry of the allow list needs a hash, a date ahead and a note', async () => {
  const add = (player: string, until: string, ...note: readonly string[]) =>
    ptf('allow', 'add', player, '--until', until, ...note);
  const note = ['--note', 'note'];
  assert.is((await add('player-7', '2030-12-31', ...note)).code, 2);
  assert.is((await add(subject, 'tomorrow', ...note)).code, 2);
  assert.is((await add(subject, '2030-12-31')).code, 2);
  assert.is((await add(subject, '2030-12-31', '--note', 'two\nlines')).code, 2);
  const past = await add(subject, '2020-12-31', ...note);
  assert.equal([past.code, /ahead/.test(past.err)], [1, true]);
});

test('the public key of a peer is given at its registration or later, printed and removed', async () => {
  const added = await json('peers', 'add', '--name', 'New', '--games', 'arena', '--public-key', publicKey);
  assert.is(added.public_key, publicKey);
  const { peerId } = await registerPeer(node.url);
  const set = await json('peers', 'set-key', peerId, publicKey);
  assert.equal([set.peer_id, set.public_key], [peerId, publicKey]);
  const { data } = (await json('peers', 'list')) as { data: Record<string, unknown>[] };
  assert.equal(
    data.map(({ public_key, shared_erasures }) => [public_key, shared_erasures]),
    [
      [publicKey, 0],
      [publicKey, 0],
    ],
  );
  assert.is((await json('peers', 'set-key', peerId, '--none')).public_key, null);
  const hyphen = `-${publicKey.slice(1)}`;
  assert.is((await json('peers', 'set-key', peerId, '--', hyphen)).public_key, hyphen);
});

test('peers note: the list shows it, the audit log names its author, and --none removes it', async () => {
  const { peerId } = await registerPeer(node.url);
  const noted = await json('peers', 'note', peerId, 'asked on Friday', '--by', 'alice');
  assert.is(noted.note, 'asked on Friday');
  assert.match((await ptf('peers', 'list', '--wide')).out, /note: asked on Friday/);
  assert.match((await ptf('audit', 'tail', '--wide')).out, /alice\S* +peer_noted|peer_noted +\S*alice/);
  assert.is((await json('peers', 'note', peerId, '--none')).note, null);
  assert.is((await ptf('peers', 'note', peerId, 'x'.repeat(201))).code, 2);
});

test('a public key that is none, or none and --none, is wrong usage', async () => {
  for (const args of [['short'], [`${publicKey}=`], [], [publicKey, '--none']]) {
    assert.is((await ptf('peers', 'set-key', 'peer', ...args)).code, 2, args.join(' '));
  }
  assert.is((await ptf('peers', 'set-key', 'nobody', publicKey)).code, 1);
});

test.run();
