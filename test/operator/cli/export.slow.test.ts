/** `ptf export`: line by line, page by page, and no further than somebody reads. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { limits } from '../../../src/limits.js';
import { startTestNode, type TestNode } from '../../support/node.js';
import { runHere } from '../run-here.js';

let node: TestNode;
test.before(async () => {
  node = await startTestNode();
});
test.after(() => node.close());

type Json = Record<string, unknown>;

async function exported(args: readonly string[] = []): Promise<Json[]> {
  const { code, out, err } = await runHere(['export', 'audit', ...args], node.dir);
  assert.is(code, 0, err);
  assert.ok(out.endsWith('\n'));
  return out
    .slice(0, -1)
    .split('\n')
    .map((line) => JSON.parse(line) as Json);
}

async function register(name: string): Promise<{ readonly peerId: string; readonly apiKey: string }> {
  const registered = await node.group.register({ peerName: name, gameIds: ['g'] }, 'test');
  if (!registered.ok) throw new Error(registered.code);
  return { peerId: registered.value.peer.peerId, apiKey: registered.value.apiKey };
}

test('the audit log is exported completely, one chained entry per line, with --json too', async () => {
  const peers = 2 * limits.pageMax + 3;
  for (let i = 0; i < peers; i++) await register(`peer ${i}`);
  const entries = await exported();
  assert.is(entries.length, peers + 1);
  assert.is(entries[0]!.action, 'group_formed');
  for (const [i, entry] of entries.entries()) {
    assert.is(entry.prev_hash, i === 0 ? '0'.repeat(64) : entries[i - 1]!.hash);
  }
  assert.equal(await exported(['--json']), entries);
});

test('an export ends if its output is closed', async () => {
  let texts = 0;
  const stream = async (): Promise<boolean> => {
    texts += 1;
    return false;
  };
  const { code } = await runHere(['export', 'audit'], node.dir, { terminal: { stream } });
  assert.is(code, 0);
  assert.is(texts, 1);
});

test('an export without a node ends with 3, and one whose page fails with 1', async () => {
  const gone = await runHere(['export', 'audit', '--json'], '/nowhere');
  assert.is(gone.code, 3);
  assert.is((JSON.parse(gone.out) as Json).code, 'no_node');
});

test.run();
