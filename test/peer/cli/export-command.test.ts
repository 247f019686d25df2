/** `ptf-peer export` beside a node that does not answer for all players: no list is better than half of one. */
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { bounds } from '../../../src/client/bounds.js';
import { duration } from '../../../src/peer/cli/options.js';
import { until } from '../../support/until.js';
import { type FakeNode, fakeNode, groupAnswer, noRetry } from '../fake-node.js';
import { PeerWorld } from '../peer-world.js';

const player = '76561202255225729';
let world: PeerWorld;
let node: FakeNode;
/** The node's way to treat a read of scores. */
let answers: 'answers' | 'refuses' | 'hangs';
const asked = (part: string) => node.asked.filter(({ path }) => path.startsWith(`/api/v1/${part}`));

test.before.each(async () => {
  const more = { score: 1, confidence: 1, event_count: 1, updated_at: '2026-01-01T00:00:00.000Z' };
  node = await fakeNode(({ path }) => {
    if (path.startsWith('/api/v1/peers')) return groupAnswer();
    const refused = (status: number, code: string) => ({ status, headers: noRetry, body: { code, error: 'no' } });
    if (!path.startsWith('/api/v1/trust-scores')) return refused(404, 'route_not_found');
    if (answers === 'refuses') return refused(503, 'overloaded');
    if (answers === 'hangs') return new Promise(() => {});
    const ids = new URLSearchParams(path.split('?')[1]).get('ids')!.split(',');
    return { body: { data: ids.map((player_id) => ({ player_id, verdict: 'untrusted', ...more })) } };
  });
  world = new PeerWorld();
  world.writeConfig({ url: node.url, peerId: 'p', apiKey: 'k', groupSalt: 'a salt of sixteen bytes' });
});
test.after.each(() => node.close());

/** Exports the untrusted among the players of a file with this text. */
async function exported(text: string, more: readonly string[] = [], ending?: AbortSignal, onErr?: () => void) {
  const ids = join(world.folder, 'ids');
  writeFileSync(ids, text);
  const { err, ...ran } = await world.run(['export', '--format', 'ids', '--ids', ids, ...more], {}, ending, onErr);
  return { ...ran, err: err.replaceAll(world.folder, '') };
}

/** Follows a list until the command says something, or `isEnough`. */
async function followed(text: string, isEnough = () => false) {
  const ending = new AbortController();
  let hasSaid = false;
  const onErr = () => {
    hasSaid = true;
  };
  const path = join(world.folder, 'list');
  const following = exported(text, ['--follow', path, '--replace'], ending.signal, onErr);
  await until(() => hasSaid || isEnough());
  ending.abort();
  const { code, err } = await following;
  return { code, err: err.replace(/^\S+ /, ''), list: existsSync(path) ? readFileSync(path, 'utf8') : null };
}

test('an export for which the node does not answer lists nothing, and has exit code 3', async () => {
  answers = 'refuses';
  const { code, out, err } = await exported(`${player}\n`);
  assert.equal([code, out], [3, '']);
  assert.match(err, 'the node did not answer for all players; nothing was listed (overloaded)');
});

test('an export that is interrupted is no list of which some ids were refused', async () => {
  answers = 'hangs';
  const ending = new AbortController();
  const running = exported(`${player}\n`, [], ending.signal);
  await until(() => asked('trust-scores').length > 0);
  ending.abort();
  const interrupted = 'ptf-peer: interrupted (closed)\n';
  assert.equal(await running, { code: 3, out: '', err: interrupted });
});

test('a list that is followed stays as it is while it cannot be computed, which is said', async () => {
  answers = 'answers';
  const list = `${player}\n`;
  const said = 'export /list: 1 of 1 players are untrusted and listed\n';
  assert.equal(await followed(`${player}\n`), { code: 0, err: said, list });
  answers = 'refuses';
  const none = 'export the node did not answer for all players; nothing was listed; /list stays as it is\n';
  assert.equal(await followed(`${player}\n`), { code: 0, err: none, list });
  // A program that writes its file of ids empties it for a moment.
  assert.equal(await followed(''), { code: 0, err: 'export /ids names no player; /list stays as it is\n', list });
});

test('the time that help names as the default of --every is one that the option takes', async () => {
  const { out } = await world.run(['export', '--help']);
  const [, every = ''] = /--every [^()]*\(default: (\S+)\)/.exec(out) ?? [];
  assert.is(duration(every), bounds.followMs);
});

test('a list is not written in the place of the ids, under whichever name', async () => {
  answers = 'answers';
  const ids = join(world.folder, 'ids');
  const link = join(world.folder, 'link');
  symlinkSync(ids, link);
  mkdirSync(join(world.folder, 'none'));
  for (const path of [ids, link, `${world.folder}/none/../ids`]) {
    const { code, err } = await exported(
      `${player}, kept\n`,
      ['--follow', path, '--replace'],
      AbortSignal.timeout(5_000),
    );
    assert.is(code, 2, err);
    assert.match(err, `--follow names the file of --ids, /ids, which the list`);
    assert.is(readFileSync(ids, 'utf8'), `${player}, kept\n`);
  }
});

test('a list that is followed is written again if somebody removes it, and whenever it changes', async () => {
  answers = 'answers';
  const path = join(world.folder, 'list');
  const ending = new AbortController();
  const following = exported(`${player}\n`, ['--follow', path, '--every', '1s'], ending.signal);
  await until(() => existsSync(path));
  rmSync(path);
  await until(() => existsSync(path));
  assert.is(readFileSync(path, 'utf8'), `${player}\n`);
  const other = '76561202255225730';
  writeFileSync(join(world.folder, 'ids'), `${other}\n`);
  await until(() => readFileSync(path, 'utf8') === `${other}\n`);
  ending.abort();
  assert.is((await following).code, 0);
});

test('a list that is followed reads the verdict stream with the key of its peer', async () => {
  answers = 'answers';
  const keys = () => asked('verdicts/stream').map(({ headers }) => headers['x-peer-api-key']);
  await followed(`${player}\n`, () => keys().length > 0);
  assert.equal(keys(), ['k']);
  await exported(`${player}\n`);
  assert.is(keys().length, 1);
});

test('the kind of ids that stand for accounts of several platforms is an option', async () => {
  answers = 'answers';
  const id = '100000000000000001';
  assert.is((await exported(`${id}\n`, ['--kind', 'discord'])).out, `discord:${id}\n`);
  assert.match((await exported(`${id}\n`)).err, '/ids:1: refused: kind_needed: ');
});

test('the end of a command that follows a list is no problem of the list', async () => {
  answers = 'hangs';
  assert.equal(await followed(`${player}\n`, () => asked('trust-scores').length > 0), { code: 0, err: '', list: null });
});

test.run();
