/**
 * `ptf-peer import` and `export` against a real node: once, twice, interrupted, and what of the list leaves the host.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { subjectHash } from '../../../src/client/ids/subject.js';
import { startTestNode, type TestNode } from '../../../src/testing/test-node.js';
import { lists } from '../formats/lists.js';
import { endChildren, PeerWorld, RecordingProxy } from '../peer-world.js';
import { importPlan } from './plans.js';

let node: TestNode;
let groupSalt: string;
let proxy: RecordingProxy;
let world: PeerWorld;

test.before(async () => {
  node = await startTestNode({ variables: { PLAYER_ID_KINDS: 'steam,minecraft,eos' } });
  groupSalt = node.groupSalt;
  proxy = await RecordingProxy.start(() => node.url);
});
test.after(async () => {
  endChildren();
  await proxy.close();
  await node.close();
});
test.before.each(async () => {
  world = new PeerWorld();
  const { peerId, apiKey } = await node.register('importer');
  world.writeConfig({ url: proxy.url, peerId, apiKey, groupSalt });
});

function list(name: string, text: string): string {
  const file = join(world.folder, name);
  writeFileSync(file, text);
  return file;
}

async function importJson(...args: string[]) {
  const { code, out, err } = await world.run(['import', ...args, '--json']);
  return { code, err, document: JSON.parse(out) };
}

test('an import reports every ban once, and a second one in another spelling changes nothing', async () => {
  const text = lists.source!(50);
  const first = await importJson(list('bans.cfg', text));
  assert.equal([first.code, first.document.delivered, first.document.duplicates], [0, 50, 0], first.err);
  const other = text.replaceAll('STEAM_0', 'STEAM_1').replaceAll('\n', '\r\n');
  const second = await importJson(list('other.cfg', other));
  assert.equal([second.code, second.document.delivered, second.document.duplicates], [0, 50, 50]);
});

test('the dump of a database adds nothing to the CSV of the same list', async () => {
  const first = await importJson(list('sb_bans.csv', lists.sourcebans!(20)));
  assert.equal([first.code, first.document.delivered, first.document.duplicates], [0, 20, 0], first.err);
  const second = await importJson(list('sb_bans.sql', lists['sourcebans-sql']!(20)));
  assert.equal([second.document.format, second.document.duplicates], ['sourcebans-sql', 20], second.err);
});

test('no name, reason, address or raw id of a list goes over the wire or stays on the disk', async () => {
  for (const [name, make] of Object.entries(lists)) {
    const { code } = await world.run(['import', list(`bans.${name}`, make(12))]);
    assert.is(code, 0, name);
  }
  const left = proxy.sent.join('\n') + world.stateText();
  assert.not.match(
    left,
    /Été|Nom_|игрок|玩家|Neil|plain, with|two lines|by hand|198\.51|225827|STEAM_|7656120|0a0b0c0d/,
  );
  assert.match(left, subjectHash('76561202255165728', groupSalt));
});

test('an import of a public list names its origin, which the operator must have declared', async () => {
  const { code, document } = await importJson(list('public.cfg', lists.source!(3)), '--origin', 'public-list');
  assert.equal([code, document.delivered, document.refused.length], [1, 0, 3]);
  assert.match(document.refused[0].reason, /unknown_origin/);
  const doctor = await world.run(['doctor']);
  assert.match(doctor.out, /refused 3 reports of the spool imports for good, the last for unknown_origin/);
});

test('an import that is killed goes on where it stopped, and each ban is there once', async () => {
  const file = list('bans.csv', lists.csv!(3_000));
  const running = world.start(['import', file]);
  const enough = () => proxy.sent.filter((one) => one.startsWith('POST /api/v1/events/batch')).length > 0;
  while (!enough()) await new Promise((resolve) => setImmediate(resolve));
  running.child.kill('SIGKILL');
  await running.ended;
  const { code, document, err } = await importJson(file);
  assert.is(code, 0, err);
  assert.is(document.waiting, 0);
  const again = await importJson(file);
  assert.equal([again.document.delivered, again.document.duplicates], [3_000, 3_000]);
});

test('a list that repeats one player thousands of times is planned in linear time', () => {
  const rows = 100_000;
  const header = 'steam_id,banned_at,expires_at\n';
  const id = '76561198000000001';
  const same = importPlan(`${header}${`${id},2026-11-01T00:00:00Z,\n`.repeat(rows)}`).entries;
  assert.equal([same.length, same[0]!.repeats.count], [1, rows - 1]);
  assert.match(String(same[0]!.note), /repeated in line 3, 4, 5, 6, 7 and 99994 more/);
  const times = Array.from(
    { length: rows },
    (_, i) => `${id},${new Date(1_700_000_000_000 + i * 1_000).toISOString()},`,
  );
  const dated = importPlan(`${header}${[...times, ...times.slice(-2)].join('\n')}\n`).entries;
  assert.equal([dated.length, dated.at(-1)!.repeats.count, dated[0]!.repeats.count], [rows, 1, 0]);
});

test.run();
