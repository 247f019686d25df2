/** Reads of the facts about a node, its group and its peers. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { bounds } from '../../../src/client/bounds.js';
import { NodeReader } from '../../../src/peer/node/node-reader.js';
import { type Asked, type FakeAnswer, fakeNode, groupAnswer } from '../fake-node.js';

async function reading<T>(answer: (asked: Asked) => FakeAnswer, read: (reader: NodeReader) => Promise<T>) {
  const node = await fakeNode(answer);
  const reader = new NodeReader(node.url);
  try {
    const found = await read(reader).catch(({ code }: { code: string }) => code);
    return { found, paths: node.asked.map(({ path }) => path) };
  } finally {
    await reader.close();
    await node.close();
  }
}

test('an older node lacks a salt check and kinds of ids, and texts alone are kinds', async () => {
  const facts = { groupId: 'local', isOfTokens: false, saltCheck: null, playerIdKinds: [] };
  for (const [group, more] of [
    [{}, {}],
    [{ salt_check: 7, player_id_kinds: 'steam' }, {}],
    [
      { salt_check: '01234567', player_id_kinds: ['steam', 7] },
      { saltCheck: '01234567', playerIdKinds: ['steam'] },
    ],
  ] as const) {
    const { found, paths } = await reading(
      () => groupAnswer(group),
      (reader) => reader.group(),
    );
    assert.equal([found, paths], [{ ...facts, ...more }, ['/api/v1/peers?limit=1']]);
  }
  assert.is(
    (
      await reading(
        () => groupAnswer({ group_id: 7 }),
        (reader) => reader.group(),
      )
    ).found,
    'unexpected_answer',
  );
});

test('the status of a peer is found on any page of the group, up to a bound', async () => {
  const peer = (peer_id: string, status: string) => ({ peer_id, status });
  const answer = ({ path }: Asked) => {
    if (!path.includes('cursor')) return groupAnswer({}, [peer('a', 'active'), peer('odd', 'x')], 'n/2');
    if (path.endsWith('n%2F2')) return groupAnswer({}, [peer('b', 'suspended')], 'last');
    return groupAnswer({}, [peer('c', 'revoked')]);
  };
  const first = '/api/v1/peers?limit=200';
  const pages = [first, `${first}&cursor=n%2F2`, `${first}&cursor=last`];
  for (const [id, status, read] of [
    ['a', 'active', 1],
    ['b', 'suspended', 2],
    ['c', 'revoked', 3],
    ['d', null, 3],
    ['odd', null, 1],
  ] as const) {
    const { found, paths } = await reading(answer, (reader) => reader.statusOf(id));
    assert.equal([found, paths], [status, pages.slice(0, read)]);
  }
  const endless = await reading(
    () => groupAnswer({}, [], 'more'),
    (reader) => reader.statusOf('a'),
  );
  assert.equal([endless.found, endless.paths.length], [null, bounds.peerPagesMax]);
  const none = await reading(
    () => ({ body: { group: {} } }),
    (reader) => reader.statusOf('a'),
  );
  assert.is(none.found, 'unexpected_answer');
});

test('the clock of this machine is compared with the middle of the second that the node states', async () => {
  const { now } = Date;
  const ahead = async (date: string | null) => {
    const { found, paths } = await reading(
      () => ({ body: {}, ...(date === null ? { sendsDate: false } : { headers: { date } }) }),
      (reader) => reader.clockAheadMs(),
    );
    assert.equal(paths, ['/api/v1/health']);
    return found;
  };
  Date.now = () => Date.UTC(2026, 0, 1, 0, 0, 7, 700);
  try {
    assert.is(await ahead('Thu, 01 Jan 2026 00:00:07 GMT'), 200);
    assert.is(await ahead('Thu, 01 Jan 2026 01:00:00 GMT'), -3_592_800);
    assert.equal([await ahead(null), await ahead('soon')], [null, null]);
  } finally {
    Date.now = now;
  }
});

test('a reader that is closed ends what it asked, and answers nothing further', async () => {
  const { found } = await reading(
    () => groupAnswer(),
    async (reader) => {
      const asked = reader.group();
      await reader.close();
      return Promise.allSettled([asked, reader.statusOf('a'), reader.clockAheadMs()]);
    },
  );
  const [asked, ...further] = found as PromiseSettledResult<unknown>[];
  assert.equal([asked?.status, ...further.map(({ status }) => status)], ['rejected', 'rejected', 'rejected']);
});

test.run();
