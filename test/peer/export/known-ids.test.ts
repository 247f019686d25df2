import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { bounds } from '../../../src/client/bounds.js';
import { subjectHash } from '../../../src/client/ids/subject.js';
import type { TransportRequest } from '../../../src/client/transport/transport.js';
import { knownIds } from '../../../src/peer/cli/export-command.js';
import { AllowFile } from '../../../src/peer/sidecar/allow-file.js';
import { matchAnswer, peersAnswer, saltCheckPath } from '../../client/scripted-transport.js';
import { until } from '../../support/until.js';
import { fakeNode, groupAnswer } from '../fake-node.js';
import { PeerWorld } from '../peer-world.js';

const idsOf = (text: string): string[] => [...knownIds(text, {}).players.keys()];

test('empty lines, comments and the name of the column are no ids', () => {
  const text = 'steam_id\n\n// my players\n76561197960287930,name\n"76561197960287931"\n76561197960287930\n';
  assert.equal(knownIds(text, {}).refused, []);
  assert.is(idsOf(text).length, 2);
});

test('a last line that may be truncated is refused where each shorter id is an id, too', () => {
  assert.equal([idsOf('STEAM_0:0:11101\n').length, knownIds('STEAM_0:0:11101', {}).refused.length], [1, 1]);
  assert.is(idsOf('76561197960287930').length, 1);
});

test('a list names every untrusted player of the file, over more players than one read takes', async () => {
  await using node = await fakeNode(({ path }) => {
    const { body } = path === saltCheckPath ? peersAnswer(null) : matchAnswer({ path } as TransportRequest);
    return { body: JSON.parse(JSON.stringify(body).replaceAll('"neutral"', '"untrusted"')) };
  });
  const world = new PeerWorld();
  world.writeConfig({ url: node.url, peerId: 'p', apiKey: 'k', groupSalt: 'a salt of sixteen bytes' });
  const ids = Array.from({ length: bounds.scoresPerCall + 2 }, (_, i) => `${76561197960287930n + BigInt(i)}`);
  writeFileSync(join(world.folder, 'ids'), `${ids.join('\n')}\n`);
  const { out } = await world.run(['export', '--format', 'squad', '--ids', join(world.folder, 'ids')]);
  assert.equal(out.match(/\b7656\d+/g), ids);
});

test('an export lists who is untrusted enough and not allowed, and a followed one needs more confidence', async () => {
  const groupSalt = 'a salt of sixteen bytes';
  const [A, B, C, D] = ['76561202255225729', '76561202255225730', '76561202255225731', '76561202255225732'] as const;
  const values = new Map<string, readonly [verdict: string, confidence: number]>([
    [subjectHash(A, groupSalt), ['untrusted', 0.5]],
    [subjectHash(B, groupSalt), ['untrusted', 0.4]],
    [subjectHash(C, groupSalt), ['suspicious', 0.9]],
    [subjectHash(D, groupSalt), ['untrusted', 0.9]],
  ]);
  await using node = await fakeNode(({ path }) => {
    if (path.startsWith('/api/v1/peers')) return groupAnswer();
    if (!path.startsWith('/api/v1/trust-scores'))
      return { status: 404, body: { code: 'route_not_found', error: 'no' } };
    const asked = new URLSearchParams(path.split('?')[1]).get('ids')!.split(',');
    const more = { score: 1, event_count: 1, updated_at: '2026-01-01T00:00:00.000Z' };
    const data = asked.map((player_id) => {
      const [verdict, confidence] = values.get(player_id)!;
      return { player_id, verdict, confidence, ...more };
    });
    return { body: { data } };
  });
  const world = new PeerWorld();
  world.writeConfig({ url: node.url, peerId: 'p', apiKey: 'k', groupSalt });
  const ids = join(world.folder, 'ids');
  writeFileSync(ids, `${[A, B, C, D].join('\n')}\n`);
  const allow = await AllowFile.open(join(world.stateDir, 'sidecar', 'allow.json'));
  await allow.add(subjectHash(D, groupSalt), Date.now() + 600_000, '');
  const list = (format: string, ...more: string[]) => world.run(['export', '--format', format, '--ids', ids, ...more]);
  assert.equal(await list('ids'), { code: 0, out: `${A}\n${B}\n`, err: '2 of 4 players are untrusted and listed\n' });
  assert.is((await list('ids', '--confidence-min', '0.45')).out, `${A}\n`);
  const none = '0 of 4 players are untrusted and listed; 2 more have ids that do not fit minecraft\n';
  assert.equal(await list('minecraft'), { code: 0, out: '[]\n', err: none });

  const path = join(world.folder, 'list');
  const ending = new AbortController();
  const following = world.run(['export', '--format', 'ids', '--ids', ids, '--follow', path], {}, ending.signal);
  await until(() => existsSync(path));
  ending.abort();
  const { code, err } = await following;
  assert.equal(
    [code, readFileSync(path, 'utf8'), statSync(path).mode & 0o777],
    [0, `${A}\n`, 0o644 & ~process.umask()],
  );
  assert.ok(err === '' || err.endsWith(`${path}: 1 of 4 players are untrusted and listed\n`), err);
  assert.match((await list('ids', '--follow', path)).err, 'is not empty, and --follow removes every ban');
  writeFileSync(ids, `${A}\nnobody\n`);
  const some = await list('ids');
  assert.equal([some.code, some.out, some.err.split('\n').length], [1, `${A}\n`, 3]);
  assert.match(some.err, /^.*ids:2: refused: unknown_form: .*\n1 of 1 players/);
});

test.run();
