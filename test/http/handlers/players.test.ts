/** The reads about players: scores, verdicts, matches and events, and how they may be cached. */
import { hash } from 'node:crypto';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { startStillNode, type TestNode, weightsSettled } from '../../support/node.js';
import { until } from '../../support/until.js';
import { type Answer, ask } from '../exchange.js';
import { newPlayer, type PeerClient, registerPeer } from '../peer-client.js';

const salt = 'a salt of sixteen bytes or more';

let node: TestNode;
let peers: PeerClient[];
let peer: PeerClient;

test.before(async () => {
  node = await startStillNode({ GROUP_SALT: salt });
  peers = [];
  for (const name of ['One', 'Two', 'Three']) peers.push(await registerPeer(node.url, name));
  peer = peers[0]!;
  // Weights that a peer's first event calls for would come between two reads.
  for (const one of peers) await one.submit({ player_id: newPlayer() });
  await weightsSettled(node);
});

test.after(() => node.close());

function read(playerId: string, what: string, how = {}): Promise<Answer> {
  return ask(node.url, `/api/v1/players/${encodeURIComponent(playerId)}/${what}`, how);
}

const hour = /^\d{4}-\d\d-\d\dT\d\d:00:00\.000Z$/;

test('a score and a verdict agree, rounded and cut', async () => {
  const player = newPlayer();
  // The word of a pre-trusted peer counts before weights are computed.
  await node.group.preTrust('add', peer.peerId, 'test');
  await peer.submit({ player_id: player, severity: 1 });
  const { body: score } = await read(player, 'trust-score');
  assert.is(score.player_id, player);
  assert.ok(score.score < 50 && score.score > 0);
  assert.ok(score.confidence > 0 && score.confidence < 1);
  assert.match(String(score.score), /^\d+(\.\d{1,2})?$/);
  assert.match(String(score.confidence), /^0(\.\d{1,4})?$/);
  assert.match(score.updated_at, hour);
  assert.is(score.event_count, 1);
  const { body: verdict } = await read(player, 'verdict');
  const { confidence, updated_at } = score;
  assert.equal(verdict, { player_id: player, verdict: score.verdict, confidence, updated_at });
  await node.group.preTrust('remove', peer.peerId, 'test');
});

test('a player is one under its id and under its hash, in either case', async () => {
  const player = newPlayer();
  const subject = hash('sha256', player + salt);
  await peer.submit({ player_id: player });
  await peer.submit({ player_id: subject.toUpperCase() });
  for (const id of [player, subject, subject.toUpperCase()]) {
    const { body } = await read(id, 'trust-score');
    assert.equal([body.player_id, body.event_count], [id, 2]);
  }
});

test('explain adds the parts of the score, and the split from three peers on', async () => {
  const player = newPlayer();
  await peer.submit({ player_id: player, severity: 1 });
  // Unknown parameters are ignored.
  const one = (await read(player, 'trust-score?x=1&%zz&explain=true')).body.explain;
  const { reasons, weights_based_on_seq: _seq, ...shown } = one;
  assert.equal(shown, { half_life_days: 30, ban_half_life_days: 180, peers: 1, two_sided: false, witnesses: 1 });
  assert.ok(reasons.length > 0);
  await peers[1]?.submit({ player_id: player, event_type: 'ban_applied' });
  await peers[2]?.submit({ player_id: player, event_type: 'commendation' });
  const three = (await read(player, 'trust-score?explain=true')).body.explain;
  assert.equal([three.peers, typeof three.bans, three.pre_trusted], [3, 'number', false]);
  assert.ok(three.lowering > 0 && three.raising > 0);
  for (const { peerId } of peers) assert.not(JSON.stringify(three).includes(peerId));
  assert.is((await read(player, 'trust-score?explain=false')).body.explain, undefined);
  assert.is((await read(player, 'trust-score?explain=1')).body.code, 'invalid_parameter');
});

test('a match is answered in the order asked, with repeats and unknown players', async () => {
  const [known, comma] = [newPlayer(), `${newPlayer()},+`];
  await peer.submit({ player_id: known });
  await peer.submit({ player_id: comma });
  const query = `ids=${known},nobody,${known}&id=${encodeURIComponent(comma)}`;
  const { status, body } = await ask(node.url, `/api/v1/trust-scores?${query}`);
  assert.is(status, 200);
  const alone = (await read(known, 'trust-score')).body;
  const withComma = (await read(comma, 'trust-score')).body;
  assert.equal(body.data, [alone, { player_id: 'nobody', code: 'player_not_found' }, alone, withComma]);
});

test('the events of a player are a summary for all, and in full only for who sent them', async () => {
  const player = newPlayer();
  const timestamp = '2026-01-07T12:00:00Z';
  const sent = await peer.submit({ player_id: player, timestamp });
  await peers[1]?.submit({ player_id: player, timestamp, event_type: 'report_spam' });
  const few = (await read(player, 'events')).body;
  assert.equal(few, {
    player_id: player,
    total: 2,
    summarised: 2,
    summary: [{ event_type: 'other', count: 2 }],
    data: [],
    next_cursor: null,
  });
  await peers[2]?.submit({ player_id: player, timestamp, event_type: 'report_spam' });
  const { body } = await read(player, 'events', { key: peer.key });
  assert.equal([body.total, body.summarised], [3, 3]);
  const rows = [...body.summary].sort((a, b) => (a.event_type < b.event_type ? -1 : 1));
  // 2026-01-07 is a Wednesday in the second ISO week of 2026.
  assert.equal(rows, [
    { event_type: 'report_cheating', week: '2026-W02', count: 1 },
    { event_type: 'report_spam', week: '2026-W02', count: 2 },
  ]);
  assert.equal(body.data, [sent.body]);
  assert.equal((await read(player, 'events', { key: 'ptf_dev_wrong' })).body.data, []);
});

test('an own event that is no evidence is listed as it was answered, with counts: false', async () => {
  const player = newPlayer();
  const counted = await peer.submit({ player_id: player });
  const sent = [
    await peer.submit({ player_id: player, severity: 0 }),
    await peer.submit({ player_id: player, timestamp: '2001-01-01T00:00:00Z' }),
    await peer.submit({ player_id: player, event_type: 'ban_lifted' }),
  ];
  const { body } = await read(player, 'events', { key: peer.key });
  assert.equal(
    body.data,
    [...sent.reverse(), counted].map((answer) => answer.body),
  );
  assert.equal(
    body.data.map((one: { counts?: false }) => one.counts),
    [undefined, false, false, undefined],
  );
});

test('own events come newest first, page by page', async () => {
  const player = newPlayer();
  const ids: string[] = [];
  for (let at = 0; at < 5; at += 1) ids.unshift((await peer.submit({ player_id: player })).body.event_id);
  const pages: string[][] = [];
  for (let query: string | null = ''; query !== null && pages.length < 10; ) {
    const { body }: Answer = await read(player, `events?limit=2${query}`, { key: peer.key });
    pages.push(body.data.map((one: { event_id: string }) => one.event_id));
    query = body.next_cursor && `&cursor=${body.next_cursor}`;
  }
  assert.equal(pages, [ids.slice(0, 2), ids.slice(2, 4), ids.slice(4)]);
  for (const query of ['limit=0', 'cursor=x']) {
    assert.is((await read(player, `events?${query}`)).body.code, 'invalid_parameter', query);
  }
});

test('without a key a read has a tag, may be cached for two seconds, and is not sent twice', async () => {
  const player = newPlayer();
  await peer.submit({ player_id: player });
  const paths = [
    `/api/v1/players/${player}/trust-score`,
    `/api/v1/players/${player}/verdict`,
    `/api/v1/players/${player}/events`,
    `/api/v1/trust-scores?ids=${player}`,
    '/api/v1/peers',
  ];
  const tagOf = async (path: string) => (await ask(node.url, path)).headers.etag ?? '';
  for (const path of paths) {
    assert.is((await ask(node.url, path)).headers['cache-control'], 'public, max-age=2', path);
    // Weights may be published between two reads.
    await until(async () => {
      const tag = await tagOf(path);
      assert.match(tag, /^"[\w-]+"$/, path);
      const again = await ask(node.url, path, { headers: { 'If-None-Match': tag } });
      if ((await tagOf(path)) !== tag) return false;
      assert.equal([again.status, again.text, again.headers.etag], [304, '', tag], path);
      return true;
    });
    assert.is((await ask(node.url, path, { headers: { 'If-None-Match': '"other"' } })).status, 200);
  }
});

test('a tag that was good before a change is good no more, of a score as of a match', async () => {
  const [player, unknown] = [newPlayer(), newPlayer()];
  await peer.submit({ player_id: player });
  const score = `/api/v1/players/${player}/trust-score`;
  const match = `/api/v1/trust-scores?ids=${player},${unknown}`;
  const known = new Map<string, Answer>();
  const changed = async (path: string): Promise<void> => {
    const before = known.get(path);
    const now = await ask(node.url, path, { headers: { 'If-None-Match': before?.headers.etag ?? '"none"' } });
    assert.is(now.status, 200, path);
    assert.is.not(now.text, before?.text, path);
    assert.is.not(now.headers.etag, before?.headers.etag, path);
    known.set(path, now);
  };
  for (const path of [score, match]) await changed(path);
  await peer.submit({ player_id: player });
  for (const path of [score, match]) await changed(path);
  await peer.submit({ player_id: unknown });
  await changed(match);
  // The minute of the evaluation may pass meanwhile.
  await until(async () => {
    const { etag } = (await ask(node.url, score)).headers;
    return (await ask(node.url, score, { headers: { 'If-None-Match': etag ?? '' } })).status === 304;
  });
});

test('HEAD has the head of GET and no body', async () => {
  const player = newPlayer();
  await peer.submit({ player_id: player });
  const path = `/api/v1/players/${player}/trust-score`;
  // Weights may be published between two reads.
  await until(async () => {
    const [get, head] = [await ask(node.url, path), await ask(node.url, path, { method: 'HEAD' })];
    if ((await ask(node.url, path)).headers.etag !== get.headers.etag) return false;
    assert.is(head.text, '');
    for (const name of ['etag', 'content-length', 'content-type', 'cache-control', 'vary']) {
      assert.is(head.headers[name], get.headers[name], name);
    }
    return true;
  });
  assert.is((await ask(node.url, '/api/v1/players/nobody/verdict', { method: 'HEAD' })).status, 404);
});

test('the pages and files of the description carry tags, too', async () => {
  for (const path of [
    '/api/v1/openapi.json',
    '/api/v1/openapi-3.0.json',
    '/docs',
    '/docs/start.js',
    '/docs/swagger-ui.css',
  ]) {
    const { headers, text } = await ask(node.url, path);
    assert.ok(text.length > 0);
    assert.is((await ask(node.url, path, { headers: { 'If-None-Match': headers.etag ?? '' } })).status, 304, path);
  }
});

test.run();
