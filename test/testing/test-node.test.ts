/** A test node in the life of a test: its players, its restart, its end, and starts that fail. */
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { mkdirSync, readdirSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { DAY_MS } from '../../src/limits.js';
import { startTestNode } from '../../src/testing/test-node.js';
import { temporaryFolder } from '../support/process.js';

let folder = '';
test.before.each(() => {
  folder = temporaryFolder();
});

const reasonOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'resolved',
    (error: unknown) => String(error),
  );

test('seeding peers are independent witnesses of their players, until the node and its clients close', async () => {
  const dir = join(folder, 'a', 'b');
  const node = await startTestNode({ folder: dir, variables: { LOG_LEVEL: 'error' } });
  try {
    assert.match(node.url, /^http:\/\/127\.0\.0\.1:\d{4,5}$/);
    assert.match(await reasonOf(node.start()), 'the test node is already running');
    const peers = await node.seed({ bad: ['cheater'], good: ['angel'] });
    const read = async (path: string) => (await fetch(`${node.url}/api/v1/${path}`)).json();
    const { last_seq, weights } = (await read('health')) as { last_seq: number; weights: { based_on_seq: number } };
    assert.is(weights.based_on_seq, last_seq, 'the scores reflect every event');
    const { data } = (await read('peers')) as { data: readonly Record<string, unknown>[] };
    assert.equal(
      data.map(({ peer_id, peer_name, game_ids }) => [peer_id, peer_name, game_ids]),
      peers.map(({ peerId }, i) => [peerId, `seeding peer ${i + 1}`, ['arena']]),
    );
    assert.is(peers.length, 6);
    const client = node.client(peers[0]);
    for (const [player, verdict, bans] of [
      ['cheater', 'untrusted', true],
      ['angel', 'trusted', false],
      ['seeded bad player 1', 'untrusted', true],
      ['seeded good player 12', 'trusted', false],
    ] as const) {
      const found = (await client.explain(player))!;
      const { witnesses, two_sided, bans: counted = 0, lowering = 0, raising = 0 } = found.explain!;
      assert.equal([found.verdict, found.event_count, witnesses, two_sided], [verdict, 18, 6, true], player);
      assert.is(counted > 0, bans);
      assert.ok(lowering > 0 && raising > 0, 'some peers differ in an event');
    }
    assert.is(
      (await client.submit({ eventType: 'commendation', playerId: 'x', gameId: 'arena', severity: 1 })).status,
      'accepted',
    );
    const { now } = Date;
    Date.now = () => now() + 2 * DAY_MS;
    const ahead = await reasonOf(node.seed({ peers: 1 })).finally(() => {
      Date.now = now;
    });
    assert.match(ahead, 'the test node rejected 72 events of the seed');
    await node.restart();
    assert.ok(node.isRunning);

    // Not deleted: the running node could write a file meanwhile.
    renameSync(dir, `${dir}-away`);
    assert.ok(node.isRunning);
    assert.match(await reasonOf(node.restart()), 'ENOENT');
    assert.not.ok(node.isRunning);
    mkdirSync(dir);
    const starting = reasonOf(node.start());
    await node.close();
    assert.not.ok(node.isRunning);
    assert.match(await starting, 'the test node ended with SIGTERM');
    assert.match(await reasonOf(client.score('angel')), 'the client is closed');
  } finally {
    await node.close();
  }
});

test('a relative folder is one of the test, and the data are in it', async () => {
  const before = process.cwd();
  process.chdir(folder);
  try {
    const node = await startTestNode({ folder: 'a' });
    await node.close();
    assert.equal(readdirSync(join(folder, 'a')), ['data']);
  } finally {
    process.chdir(before);
  }
});

test('a start that is refused is not repeated, and leaves nothing but a folder that was given', async () => {
  const { TMPDIR: before } = process.env;
  process.env.TMPDIR = folder;
  let starts = 0;
  const count = () => {
    starts += 1;
  };
  subscribe('child_process', count);
  try {
    const variables = { HALF_LIFE_DAYS: 'many' };
    const given = join(folder, 'given');
    const reasons = [{ variables }, { variables, folder: given }].map((options) => reasonOf(startTestNode(options)));
    for (const reason of await Promise.all(reasons)) {
      assert.match(reason, /the test node ended with 2:\nHALF_LIFE_DAYS: must be/);
    }
  } finally {
    unsubscribe('child_process', count);
    if (before === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = before;
  }
  assert.equal([readdirSync(folder), starts], [['given'], 2]);
});

test.run();
