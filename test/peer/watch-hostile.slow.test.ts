/** `ptf-peer watch` on lists that cannot be read to their end: nothing is withdrawn because of what was not read. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { bounds } from '../../src/client/bounds.js';
import { startTestNode } from '../../src/testing/test-node.js';
import { until } from '../support/until.js';
import { endChildren, PeerWorld } from './peer-world.js';

const entries = [1, 2].map((n) => ({
  uuid: `0a0b0c0d-1111-4222-8333-00000000000${n}`,
  created: '2026-11-20 13:00:00 +0100',
  expires: 'forever',
}));

test('a list with an entry nested too deep is read up to it, and lifts none of the bans behind it', async () => {
  const node = await startTestNode({ variables: { PLAYER_ID_KINDS: 'steam,minecraft' } });
  const world = new PeerWorld();
  try {
    const peer = await node.register('watcher');
    world.writeConfig({ url: node.url, ...peer, groupSalt: node.groupSalt });
    const list = join(world.folder, 'banned-players.json');
    writeFileSync(list, JSON.stringify(entries));
    const running = world.start(['watch', list, '--format', 'minecraft']);
    await until(() => /reported 2 bans/.test(running.err()) || running.child.exitCode !== null);
    const deep = '['.repeat(50_000) + ']'.repeat(50_000);
    writeFileSync(list, `[${JSON.stringify(entries[0])},\n${deep},\n${JSON.stringify(entries[1])}]`);
    await until(() => /line 2: the JSON is nested deeper/.test(running.err()) || running.child.exitCode !== null);
    const added = { ...entries[0], uuid: '0a0b0c0d-1111-4222-8333-000000000009' };
    writeFileSync(list, `[${JSON.stringify(entries[0])},${JSON.stringify(added)},\n${deep},\n{}]`);
    await until(() => /reported 1 bans/.test(running.err()) || running.child.exitCode !== null);
    // The list must stay unchanged for some seconds before a missing ban would count as lifted.
    await delay(bounds.listLiftMs + 1_500);
    assert.not.match(running.err(), /withdrew/);
    const client = node.client(peer);
    for (const { uuid } of [...entries, added]) assert.is((await client.explain(uuid))?.event_count, 1);
    running.child.kill();
    assert.is((await running.ended).code, 0);
  } finally {
    endChildren();
    await node.close();
  }
});

test('a document that has lost the path of its bans ends the watch, which withdraws none of them', async () => {
  const node = await startTestNode({ variables: { PLAYER_ID_KINDS: 'steam,minecraft' } });
  const world = new PeerWorld();
  try {
    const peer = await node.register('watcher');
    world.writeConfig({ url: node.url, ...peer, groupSalt: node.groupSalt });
    const [list, description] = ['bans.json', 'description.json'].map((name) => join(world.folder, name)) as [
      string,
      string,
    ];
    writeFileSync(list, JSON.stringify({ bans: entries }));
    const ids = [{ cell: 'uuid', kind: 'minecraft' }];
    const known = ['created', 'expires'];
    writeFileSync(description, JSON.stringify({ name: 'own', shape: 'json', path: 'bans', ids, known }));
    const running = world.start(['watch', list, '--description', description, '--allow-mass-lift']);
    await until(() => /reported 2 bans/.test(running.err()) || running.child.exitCode !== null);
    writeFileSync(list, JSON.stringify({ punishments: entries }));
    const { code, err } = await running.ended;
    assert.is(code, 4);
    assert.match(err, 'cells_not_described');
    assert.match(err, 'the list lacks bans');
    assert.is((await node.client(peer).explain(entries[0]!.uuid))?.event_count, 1);
  } finally {
    endChildren();
    await node.close();
  }
});

test.run();
