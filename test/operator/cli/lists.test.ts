/** Lists of `ptf` at a terminal of 80 columns, sorted and filtered. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { ask } from '../../http/exchange.js';
import { registerPeer } from '../../http/peer-client.js';
import { startTestNode, type TestNode } from '../../support/node.js';
import { runHere } from '../run-here.js';

const disputed = 'cc'.repeat(32);
let node: TestNode;
let last = '';

test.before(async () => {
  node = await startTestNode();
  for (const name of ['Arena of a rather long name in the west of Europe', 'Citadel', 'Bastion']) {
    const peer = await registerPeer(node.url, name);
    last = peer.peerId;
    if (name === 'Bastion') continue;
    for (let i = 0; i < name.length; i++) await peer.submit({ player_id: disputed, event_id: `${name.length}-${i}` });
    const text = 'a sibling of the player used the account, which everybody on the server knows by now';
    await ask(node.url, `/api/v1/subjects/${disputed}/disputes`, { method: 'POST', key: peer.key, json: { text } });
  }
  await runHere(['peers', 'suspend', last, '--by', 'alice'], node.dir);
});
test.after(() => node.close());

/** Returns the lines at a terminal of 80 columns, without the head. */
async function rows(...args: readonly string[]): Promise<string[]> {
  const { code, out, err } = await runHere(args, node.dir, { terminal: { width: 80 } });
  assert.is(code, 0, err);
  const lines = out.trimEnd().split('\n');
  if (!args.includes('--wide')) for (const line of lines) assert.ok([...line].length <= 80, line);
  return lines.slice(1);
}

test('ptf peers without a command lists the peers, with the options of the list', async () => {
  assert.equal(await rows('peers', '--status', 'active'), await rows('peers', 'list', '--status', 'active'));
  assert.is((await rows('peers')).length, 3);
  const help = await runHere(['peers', '--help'], node.dir);
  assert.match(help.out, /lists them if no command is given/);
});

test('a mistyped command of a group that lists by default is answered with the command that was meant', async () => {
  for (const args of [[], [last, '--json']].map((more) => ['peers', 'suspnd', ...more])) {
    const { code, out, err } = await runHere(args, node.dir);
    assert.is(code, 2);
    assert.match(out + err, /unknown command 'suspnd'.*Did you mean suspend\?/);
  }
  assert.match((await runHere(['peers', 'list', 'x'], node.dir)).err, /too many arguments for 'list'/);
});

test('each row of a list is one line of at most 80 columns', async () => {
  assert.is((await rows('peers', 'list')).length, 3);
  assert.is((await rows('disputes', 'list')).length, 2);
  // The group, three peers, two disputes and the suspension.
  assert.is((await rows('audit', 'tail')).length, 7);
});

test('ids and names are cut in the middle, and whole with --wide and --json', async () => {
  const [peer] = await rows('peers', 'list', '--status', 'suspended');
  assert.match(peer!, new RegExp(`^${last.slice(0, 4)}.*…`));
  const [wide] = await rows('peers', 'list', '--status', 'suspended', '--wide');
  assert.match(wide!, new RegExp(last));
  const [dispute] = await rows('disputes', 'list', '--wide');
  assert.match(dispute!, new RegExp(`${disputed}.*by now$`));
  const json = await runHere(['--json', 'disputes', 'list'], node.dir, { terminal: { width: 80 } });
  assert.is(JSON.parse(json.out).data[0].subject_hash, disputed);
});

test('peers are filtered by status and weight, and sorted', async () => {
  const names = async (...args: readonly string[]) =>
    (await rows('peers', 'list', '--wide', ...args)).map((row) => row.slice(38, 42));
  assert.equal(await names('--sort', 'events'), ['Aren', 'Cita', 'Bast']);
  assert.equal(await names('--sort', 'name'), ['Aren', 'Bast', 'Cita']);
  assert.equal(await names('--status', 'suspended'), ['Bast']);
  const none = await runHere(['peers', 'list', '--weight-below', '0'], node.dir);
  assert.match(none.out, /no peers/);
  for (const wrong of [
    ['--weight-below', '2'],
    ['--sort', 'beauty'],
    ['--status', 'asleep'],
  ]) {
    assert.is((await runHere(['peers', 'list', ...wrong], node.dir)).code, 2, wrong.join(' '));
  }
});

test('audit entries and disputes are filtered by time, audit entries by actor and action, too', async () => {
  assert.is((await rows('audit', 'tail', '--actor', 'ALICE')).length, 1);
  assert.is((await rows('audit', 'tail', '--action', 'dispute')).length, 2);
  assert.is((await rows('audit', 'tail', '--action', 'dispute', '--count', '1')).length, 1);
  assert.is((await rows('audit', 'tail', '--since', '1h')).length, 7);
  assert.is((await rows('audit', 'tail', '--since', '2100-01-01')).length, 0);
  assert.is((await rows('disputes', 'list', '--since', '1d', '--sort', 'by')).length, 2);
  assert.match((await runHere(['disputes', 'list', '--since', '2100-01-01'], node.dir)).out, /no disputes/);
  assert.is((await runHere(['audit', 'tail', '--since', 'yesterday'], node.dir)).code, 2);
});

test.run();
