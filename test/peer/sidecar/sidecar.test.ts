/** A sidecar beside a node that refuses its stream, so that every read asks the node. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { saltCheckOf } from '../../../src/client/ids/salt-check.js';
import { subjectHash } from '../../../src/client/ids/subject.js';
import type { LocalError } from '../../../src/peer/sidecar/local-error.js';
import { Sidecar, type SidecarOptions } from '../../../src/peer/sidecar/sidecar.js';
import { onFailingDisk } from '../../support/failing-disk.js';
import { temporaryFolder } from '../../support/process.js';
import { until } from '../../support/until.js';
import { type Asked, fakeNode, groupAnswer } from '../fake-node.js';

const groupSalt = 'a salt of sixteen bytes';
const [A, B, C, D] = ['76561202255225729', '76561202255225730', '76561202255225731', '76561202255225732'] as const;
type Values = readonly [verdict: string, score: number, confidence: number];
const values = new Map<string, Values>([
  [A, ['untrusted', 10, 0.5]],
  [B, ['untrusted', 20, 0.3]],
  [C, ['suspicious', 5, 0.9]],
  [D, ['trusted', 90, 0.9]],
]);
const byHash = new Map([...values].map(([id, one]) => [subjectHash(id, groupSalt), one]));

interface World {
  readonly sidecar: Sidecar;
  readonly asked: readonly Asked[];
  readonly lines: readonly string[];
  /** The parts of the status. */
  // biome-ignore lint/suspicious/noExplicitAny: the members are what the tests look at
  status(): any;
  setGroup(group: object): void;
  /** Lets the node answer no further reads of scores. */
  leave(): void;
}

/** The code by which the node refuses the stream, or null if it cuts it off, the group, and options of the sidecar. */
interface Given extends Partial<SidecarOptions> {
  readonly code?: 'invalid_api_key' | 'peer_not_active' | null;
  readonly group?: object | null;
}

const ban = { eventType: 'ban_applied', gameId: 'arena', severity: 1, eventId: undefined, at: undefined } as const;

/** Runs `work` with a sidecar; the node refuses the events of the type `report_spam`, and answers for each player. */
async function withSidecar(given: Given, work: (world: World) => Promise<void>): Promise<void> {
  const { code = 'invalid_api_key', ...more } = given;
  let { group = { player_id_kinds: ['steam', 'xbox'] } } = given;
  const setGroup = (next: object) => {
    group = next;
  };
  let isAway = false;
  const leave = () => {
    isAway = true;
  };
  const node = await fakeNode(({ path, text }) => {
    const query = new URLSearchParams(path.split('?')[1]);
    if (path.startsWith('/api/v1/peers')) {
      const own = { peer_id: 'peer', status: 'suspended' };
      return group === null
        ? { status: 404, body: { code: 'route_not_found', error: 'no' } }
        : groupAnswer(group, [own]);
    }
    if (path.startsWith('/api/v1/trust-scores')) {
      if (isAway) return null;
      const ids = query.get('ids')!.split(',');
      const data = ids.map((player_id) => {
        const [verdict, score, confidence] = byHash.get(player_id) ?? ['neutral', 50, 0];
        return { player_id, verdict, score, confidence, event_count: 1, updated_at: '2026-01-01T00:00:00.000Z' };
      });
      return { body: { data } };
    }
    if (path === '/api/v1/events/batch') {
      const events: { event_id: string; event_type: string; severity: number }[] = JSON.parse(text).events;
      const results = events.map(({ event_id, event_type, severity }) =>
        event_type === 'report_spam'
          ? { event_id, status: 400, code: 'game_id_not_registered', error: 'not registered' }
          : { event_id, status: 201, counts: severity > 0 },
      );
      return { body: { accepted: results.length, duplicates: 0, rejected: 0, results } };
    }
    return code && { status: code === 'invalid_api_key' ? 401 : 403, body: { code, error: 'refused' } };
  });
  const lines: string[] = [];
  const stateDir = temporaryFolder();
  const member = { url: node.url, peerId: 'peer', apiKey: 'key', groupSalt, gameIds: ['arena'], signingKey: undefined };
  const sidecar = await Sidecar.open({
    config: { ...member, stateDir, path: stateDir },
    mode: 'shadow',
    restrict: ['untrusted'],
    confidenceMin: 0.4,
    actOn: null,
    actConfidence: 0.5,
    playersMax: 2,
    version: '1.2.3',
    memory: () => ({ rss: 7, heapUsed: 8 }),
    log: (line) => lines.push(line),
    ...more,
  });
  try {
    await work({ sidecar, asked: node.asked, lines, status: () => sidecar.status, setGroup, leave });
  } finally {
    await sidecar.close();
    await node.close();
  }
}

/** The result of a read that came in time, with its cause: a read has little time, which a busy machine may use up. */
async function inTime<T extends object>(read: () => Promise<T>, cause: string | null = null): Promise<T> {
  let found: T | undefined;
  await until(async () => {
    found = await read();
    const all: readonly object[] = Array.isArray(found) ? found : [found];
    return all.every((one) => !('cause' in one) || one.cause === cause);
  });
  return found!;
}

test('a player is restricted for a verdict of the policy at its confidence, and acted upon in enforce mode', async () => {
  for (const mode of ['shadow', 'enforce'] as const) {
    await withSidecar({ mode }, async ({ sidecar }) => {
      const found = [await inTime(() => sidecar.player(A)), ...(await inTime(() => sidecar.players([B, 'bot', C, D])))];
      const brief = found.map((one) => ('error' in one ? one.code : `${one.verdict} ${one.action} ${one.would}`));
      const act = mode === 'enforce' ? 'restrict' : 'pass';
      const others = ['untrusted pass pass', 'invalid_parameter', 'suspicious pass pass', 'trusted pass pass'];
      assert.equal(brief, [`untrusted ${act} restrict`, ...others]);
      assert.equal(
        found.map(({ player_id }) => player_id),
        [A, B, 'bot', C, D],
      );
      await sidecar.allow({ playerId: `steam:${A}`, until: Date.now() + 60_000, note: '' });
      const { verdict, allowed, action, would } = await inTime(() => sidecar.player(A));
      assert.equal([verdict, allowed, action, would], ['neutral', true, 'pass', 'restrict']);
      assert.equal([await sidecar.disallow(A), await sidecar.disallow(A)], [true, false]);
    });
  }
});

test('the worst account decides for a person, an allowed one before all, and texts that are none are named', async () => {
  await withSidecar({}, async ({ sidecar }) => {
    for (const [ids, worst] of [
      [[D, C, B], B],
      [[B, A], A],
      [[D, C, 'bot'], C],
      [[D], D],
    ] as const) {
      const { player_id, refused } = await inTime(() => sidecar.person(ids));
      const named = refused.map((one) => one.player_id);
      assert.equal([player_id, named], [worst, ids.filter((id) => id === 'bot')]);
    }
    await sidecar.allow({ playerId: D, until: Date.now() + 60_000, note: '' });
    assert.is((await sidecar.person([A, D])).player_id, D);
    const failure = await sidecar.person(['bot']).catch((error: unknown) => error);
    const { status, message } = failure as LocalError;
    assert.equal([status, message.includes('bot')], [400, true], message);
  });
});

test('only a current verdict of those to act on bars a player, and the newest ids that were seen are listed', async () => {
  await withSidecar({ actOn: ['untrusted', 'suspicious'], actConfidence: 0.5 }, async ({ sidecar }) => {
    const isBarred = async (id: string) => (await sidecar.barred([id])).length === 1;
    const barred = async () =>
      (await sidecar.barred()).map(({ player_id, verdict }) => `${player_id} ${verdict}`).join();
    await until(() => isBarred(A));
    for (const id of [B, D]) {
      await inTime(() => sidecar.player(id));
      assert.is(await isBarred(id), false);
    }
    assert.is(await barred(), '', 'two ids are remembered: B and D');
    await sidecar.players([C, A, 'bot', `STEAM_1:1:${(BigInt(C) - 76561197960265729n) / 2n}`]);
    await until(async () => (await barred()) === `${A} untrusted,${C} suspicious`);
    await sidecar.allow({ playerId: A, until: Date.now() + 60_000, note: '' });
    assert.is(await isBarred(A), false);
    await until(async () => (await barred()) === `${C} suspicious`);
  });
  await withSidecar({ actOn: ['untrusted'], actConfidence: 0.5 }, async ({ sidecar, leave }) => {
    await until(async () => (await sidecar.barred([A])).length === 1);
    leave();
    await until(async () => (await sidecar.player(A)).source === 'last-known');
    assert.equal([(await sidecar.player(A)).verdict, await sidecar.barred([A])], ['untrusted', []]);
  });
  await withSidecar({ actOn: ['untrusted'], group: { salt_check: '00000000' } }, async ({ sidecar, status }) => {
    const { verdict } = await inTime(() => sidecar.player(A), 'salt_mismatch');
    assert.equal([verdict, await sidecar.barred([A])], ['neutral', []]);
    const refused = await sidecar.report({ ...ban, playerIds: [A] }).catch(({ code }) => code);
    assert.equal([refused, status().player_id_kinds], ['group_unknown', null], 'a node of another group');
    await sidecar.report({ ...ban, playerIds: ['a'.repeat(64)] });
    await until(() => status().problems.some(({ code }: { code: string }) => code === 'salt_mismatch'));
    assert.is(status().salt.matches, false);
  });
  await withSidecar({}, async ({ sidecar }) => {
    await inTime(() => sidecar.player(A));
    assert.equal([await sidecar.barred([A]), await sidecar.barred()], [[], []], 'no game server may ask');
  });
});

test('a stream that is refused or cut off is one problem in words, and a suspended peer is named', async () => {
  await withSidecar({ code: 'peer_not_active' }, async ({ lines, status }) => {
    await until(() => status().peer.status === 'suspended');
    const { ok, node, salt, version, memory, problems, last_error, stream, player_id_kinds } = status();
    assert.equal([ok, node.reachable, version], [false, true, '1.2.3']);
    assert.equal(salt, { check: saltCheckOf(groupSalt), matches: null });
    assert.equal([memory, player_id_kinds], [{ rss_bytes: 7, heap_used_bytes: 8 }, ['steam', 'xbox']]);
    assert.equal([stream.phase, problems.length, problems[0].part], ['refused', 1, 'stream']);
    assert.equal([last_error.code, last_error.at], ['peer_not_active', problems[0].since]);
    assert.equal(lines.length, 1, lines.join('\n'));
    assert.match(lines[0]!, /^stream: the group's operator has suspended .* \(peer_not_active\)$/);
  });
  await withSidecar({}, async ({ status, asked }) => {
    await until(() => status().problems[0]?.code === 'invalid_api_key');
    assert.equal([status().peer.status, asked.some(({ path }) => path.includes('limit=200'))], ['unknown', false]);
  });
  await withSidecar({ code: null }, async ({ lines, status, asked }) => {
    await until(() => asked.filter(({ path }) => path.includes('/stream')).length > 1);
    const { ok, node, problems, last_error } = status();
    assert.equal([ok, node.reachable, problems.length, last_error.code], [false, false, 1, 'unreachable']);
    assert.equal(lines.length, 1, lines.join('\n'));
    assert.match(lines[0]!, /^stream: the node at http:\S+ does not answer/);
  });
});

test('a report is one event for each kind of the group, and one that is set aside is a problem until the next', async () => {
  await withSidecar({}, async ({ sidecar, asked, status, lines }) => {
    const report = { ...ban, eventId: 'e' };
    const accounts = ['2535428504476914', 'ip:203.0.113.4', A];
    const ids = await sidecar.report({ ...report, playerIds: accounts });
    assert.equal([ids.length, new Set(ids).size, ids.every((id) => /^report-[0-9a-f]{40}$/.test(id))], [2, 2, true]);
    assert.equal(await sidecar.report({ ...report, playerIds: [B] }), ids.slice(0, 1), 'a name is one report');
    const unnamed = { ...report, eventId: undefined, playerIds: accounts };
    assert.is(new Set([...(await sidecar.report(unnamed)), ...(await sidecar.report(unnamed))]).size, 4);
    const none = await sidecar.report({ ...report, playerIds: ['ip:203.0.113.4', 'bot'] }).catch((error) => error.code);
    assert.is(none, 'invalid_parameter');
    await sidecar.report({ ...report, playerIds: [A], eventType: 'report_spam', eventId: undefined });
    await until(() => status().spool.set_aside === 1);
    const [problem] = status().problems.filter(({ part }: { part: string }) => part === 'reports');
    const { spool } = status();
    assert.equal(
      [problem.code, spool.last_set_aside.code, spool.pending_bytes],
      [...Array(2).fill('game_id_not_registered'), 0],
    );
    await sidecar.report({ ...report, playerIds: [B] });
    await until(() => status().problems.every(({ part }: { part: string }) => part !== 'reports'));
    assert.ok(lines.includes('reports: works again'));
    assert.is(
      asked.some(({ text }) => text.includes(A) || text.includes('203.0')),
      false,
    );
  });
});

test('the status counts reports that are no evidence, and the log names them once', async () => {
  await withSidecar({}, async ({ sidecar, status, lines }) => {
    for (const id of [A, B, C]) await sidecar.report({ ...ban, playerIds: [id], severity: 0 });
    await sidecar.report({ ...ban, playerIds: [D] });
    await until(() => status().spool.pending === 0 && status().spool.uncounted === 3);
    assert.is(status().spool.delivered, 4);
    assert.is(lines.filter((line) => line.includes('no evidence')).length, 1, lines.join('\n'));
  });
});

test('a report and an entry that the disk refuses are one problem and one line, until a write succeeds', async () => {
  await withSidecar({}, async ({ sidecar, status, lines }) => {
    await until(() => status().player_id_kinds !== null && status().stream.phase === 'refused');
    const logged = lines.length;
    const report = () => sidecar.report({ ...ban, playerIds: [A] });
    const allow = () => sidecar.allow({ playerId: A, until: Date.now() + 60_000, note: '' });
    const spool = () => status().problems.find(({ part }: { part: string }) => part === 'spool');
    for (const write of [report, allow]) {
      await onFailingDisk('ENOSPC', async () => {
        for (const one of [write, report, allow]) {
          const isWritten = await one().then(
            () => true,
            () => false,
          );
          assert.is(isWritten, false);
          assert.is(spool()?.code, 'spool_failed');
          assert.is(await sidecar.disallow(B), false);
        }
      });
      assert.match(spool().text, 'the disk is full (ENOSPC): free disk space');
      assert.equal([status().ok, status().last_error.part], [false, 'spool']);
      await write();
      assert.is(spool(), undefined);
    }
    const said = lines.slice(logged).map((line) => line.replace(/: \/.*: the/, ': the'));
    const failed = 'spool: the disk is full (ENOSPC): free disk space (spool_failed)';
    assert.equal(said, [failed, 'spool: works again', failed, 'spool: works again']);
  });
});

test('no raw id is reported before the node says its kinds of ids, which it is asked for again, and a hash is', async () => {
  await withSidecar({ group: null }, async ({ sidecar, status, setGroup }) => {
    const refused = await sidecar.report({ ...ban, playerIds: [A] }).catch(({ status, code }) => [status, code]);
    assert.equal([refused, status().player_id_kinds], [[503, 'group_unknown'], null]);
    assert.is((await sidecar.report({ ...ban, playerIds: ['a'.repeat(64)] })).length, 1);
    setGroup({ player_id_kinds: ['steam'] });
    await until(() => status().player_id_kinds !== null);
    assert.is((await sidecar.report({ ...ban, playerIds: [A] })).length, 1);
  });
});

test('a person of a group of opaque ids is one event, whatever the number of accounts', async () => {
  await withSidecar({ group: { player_id_kinds: [] } }, async ({ sidecar, status }) => {
    await until(() => status().player_id_kinds !== null);
    const accounts = ['ip:203.0.113.4', 'license:0123456789abcdef0123456789abcdef01234567', A];
    assert.is((await sidecar.report({ ...ban, playerIds: accounts })).length, 1);
  });
});

test('a player of a group of tokens is reported under the token as it is, once, as every client hashes it', async () => {
  const token = '069A79F444E94726A5BEFCA90E38AAF5';
  await withSidecar({ group: { identity_mode: 'high-security' } }, async ({ sidecar, asked, status }) => {
    await until(() => status().player_id_kinds !== null);
    assert.is((await sidecar.report({ ...ban, playerIds: [token, 'another name of it'] })).length, 1);
    const sent = () => asked.filter(({ path }) => path === '/api/v1/events/batch').map(({ text }) => text);
    await until(() => sent().length > 0);
    assert.equal(
      JSON.parse(sent()[0]!).events.map((event: Record<string, string>) => event.player_id),
      [subjectHash(token, groupSalt)],
    );
  });
});

test.run();
