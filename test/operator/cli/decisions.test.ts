/** `ptf` states the facts before a decision that cannot be undone. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { ask } from '../../http/exchange.js';
import { registerPeer } from '../../http/peer-client.js';
import { startTestNode, type TestNode } from '../../support/node.js';
import { type Ran, runHere } from '../run-here.js';

let node: TestNode;

test.before(async () => {
  node = await startTestNode({ ERASURE_MODE: 'operator' });
});
test.after(() => node.close());

/** Runs a command at a terminal whose user gives `answer`, and returns the questions, too. */
async function atTerminal(answer: boolean, ...args: readonly string[]): Promise<Ran & { readonly asked: string[] }> {
  const asked: string[] = [];
  const confirm = async (question: string) => {
    asked.push(question);
    return answer;
  };
  return { ...(await runHere(args, node.dir, { terminal: { confirm, width: 80 } })), asked };
}

test('an erasure asks with the facts about the player, and changes nothing without a yes', async () => {
  const peer = await registerPeer(node.url, 'Asking');
  const player = 'aa'.repeat(32);
  for (const event_id of ['first', 'second']) await peer.submit({ player_id: player, event_id });
  assert.is((await ask(node.url, `/api/v1/subjects/${player}`, { method: 'DELETE', key: peer.key })).status, 202);
  const pending = await atTerminal(true, 'erase', '--pending');
  assert.match(pending.out, /Asking/);
  const no = await atTerminal(false, 'erase', player);
  assert.is(no.code, 1);
  assert.match(no.asked.join(), /neutral|suspicious/);
  assert.match(no.asked.join(), /2 events of 1 peer\?/);
  assert.is((await atTerminal(true, '--json', 'player', player)).code, 0, 'the player is still there');
  const refused = await atTerminal(true, 'erase', '--refuse', player, '--reason', 'banned twice', '--by', 'alice');
  assert.equal([refused.code, refused.asked], [0, []]);
  assert.match(refused.out, /banned twice/);
  assert.match((await atTerminal(true, 'erase', '--pending')).out, /no erasure is waiting/);
  const yes = await atTerminal(false, 'erase', player, '--yes');
  assert.equal([yes.code, yes.asked], [0, []]);
  assert.is((await atTerminal(true, 'player', player)).code, 1);
});

test('a refusal needs a reason, and one thing to do at a time', async () => {
  const player = 'bb'.repeat(32);
  for (const args of [
    ['--refuse', player],
    ['--reason', 'no'],
    [player, '--pending'],
    ['--refuse', 'x', '--reason', 'no'],
  ]) {
    assert.is((await atTerminal(true, 'erase', ...args)).code, 2, args.join(' '));
  }
  assert.is((await atTerminal(true, 'erase', '--refuse', player, '--reason', 'no')).code, 1);
});

test.run();
