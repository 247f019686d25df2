/** The values that the page reads, its files, and the sign-in form. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { granted, refused } from '../../../src/errors.js';
import type { GroupApi } from '../../../src/group/api.js';
import { limits } from '../../../src/limits.js';
import { signInPage } from '../../../src/operator/dashboard/shell.js';
import { until } from '../../support/until.js';
import { recordedGroup } from '../recorded-group.js';
import { startTestDashboard, type TestDashboard } from './dashboard.js';

let dashboard: TestDashboard | undefined;
test.after.each(async () => {
  await dashboard?.close();
  dashboard = undefined;
});

/** Starts a dashboard on a group, and returns the calls of an operator who has signed in to it. */
async function signedIn(replaced: Partial<GroupApi> = {}, operator = '') {
  dashboard = await startTestDashboard(replaced);
  return dashboard.signedIn(operator);
}

test('the page reads its session, the rates, and the weight of a peer', async () => {
  const call = await signedIn({}, ' alice ');
  const { operator, group_id, environment, clustered, expires_at } = (await call('/session')).body;
  assert.equal([operator, group_id, environment, clustered], ['alice', 'g', 'dev', false]);
  assert.ok(Date.parse(expires_at) > Date.now());
  const names = ['at', 'events_per_s', 'reads_per_s', 'event_ms_p99', 'read_ms_p99'];
  const { body } = await call('/history');
  assert.equal(Object.keys(body), names);
  assert.ok(names.every((name) => Array.isArray(body[name])));
  const { weight, gate } = (await call('/peers/peer-0/history')).body;
  assert.equal([weight.at(-1), gate.at(-1)], [0.5, 0.25]);
  const unknown = await call('/peers/nobody/history');
  assert.equal([unknown.status, unknown.body.code], [422, 'unknown_peer']);
});

test('the page reads changes of verdicts, which are listened for until the dashboard is closed', async () => {
  const { verdicts } = recordedGroup(1).group;
  let listener: Parameters<GroupApi['verdicts']['listen']>[0] | undefined;
  let ended = 0;
  const listen: GroupApi['verdicts']['listen'] = (heard) => {
    listener = heard;
    return () => {
      ended += 1;
    };
  };
  const call = await signedIn({ verdicts: { ...verdicts, listen } });
  const player = { subject: 'ab', score: 1, confidence: 1, verdict: 'untrusted', allowed: false } as const;
  await listener!.publish([{ subject: 'ab', player, was: 'neutral' }], { asOf: 0 } as never);
  const at = '1970-01-01T00:00:00.000Z';
  assert.equal((await call('/changes')).body, {
    data: [{ subject_hash: 'ab', at, was: 'neutral', verdict: 'untrusted' }],
  });
  await dashboard?.close();
  dashboard = undefined;
  assert.is(ended, 1);
});

test('the chain of the audit log is checked page by page, and a page that fails is refused as it is', async () => {
  const asked: unknown[] = [];
  const pages = [
    granted({ entries: [], nextAfter: 7 }),
    granted({ entries: [], nextAfter: null }),
    refused('overloaded'),
  ];
  const audit: GroupApi['audit'] = async (...values) => {
    asked.push(...values);
    return pages.shift()!;
  };
  const call = await signedIn({ audit });
  const intact = { ok: true, entries: 0, head_hash: '0'.repeat(64), first_broken: null };
  assert.equal((await call('/audit-check', { json: {} })).body, intact);
  assert.equal(asked, [0, limits.pageMax, 7, limits.pageMax]);
  const failed = await call('/audit-check', { json: {} });
  assert.equal([failed.status, failed.body.code], [503, 'overloaded']);
});

const pauses = ['verdictsRestMs', 'verdictsRestFactor'] as const;

test('verdicts are counted beside the overview, one count at a time, and again after a pause', async () => {
  const before = pauses.map((name) => [name, limits[name]]);
  Object.assign(limits, { verdictsRestMs: 0, verdictsRestFactor: 0 });
  const count = { trusted: 1, neutral: 2, suspicious: 0, untrusted: 0 };
  const ends: (() => void)[] = [];
  const verdictCounts: GroupApi['verdictCounts'] = async () => {
    await new Promise<void>((resolve) => ends.push(resolve));
    if (ends.length === 2) throw new Error('no worker');
    return ends.length === 3
      ? refused('overloaded')
      : granted({ counts: count, sampled: 3, players: ends.length, seq: 1 });
  };
  try {
    const call = await signedIn({ verdictCounts });
    const overview = async () => (await call('/overview')).body;
    const first = await overview();
    assert.equal([first.verdicts, first.ids_refused, first.status.version], [null, 0, '1.2.3']);
    assert.ok(Number.isInteger(first.uptime_s) && first.uptime_s < 3_600);
    await overview();
    assert.is(ends.length, 1, 'a count is under way');
    ends[0]!();
    await until(async () => (await overview()).verdicts !== null);
    const counted = { ...count, sampled: 3, players: 1 };
    for (const started of [2, 3]) {
      await until(async () => (await overview()) && ends.length === started);
      ends[started - 1]!();
      assert.equal((await overview()).verdicts, counted, 'a count that fails changes nothing');
    }
    await until(async () => (await overview()) && ends.length === 4);
    Object.assign(limits, { verdictsRestMs: 1e9 });
    ends[3]!();
    await until(async () => (await overview()).verdicts.players === 4);
    await overview();
    assert.is(ends.length, 4, 'the pause lasts');
    assert.match(JSON.stringify(dashboard!.logged), /no worker.*verdicts could not be counted/);
  } finally {
    Object.assign(limits, Object.fromEntries(before));
  }
});

test('a file of the page is sent with its type, and only once while it stays the same', async () => {
  const call = await signedIn();
  const { status, headers, text } = await call('/assets/style.css');
  assert.equal(
    [status, headers['content-type'], headers['cache-control']],
    [200, 'text/css; charset=utf-8', 'no-cache'],
  );
  assert.match(String(headers.etag), /^"[\da-f]{32}"$/);
  assert.ok(text.length > 0);
  const again = await call('/assets/style.css', { headers: { 'if-none-match': String(headers.etag) } });
  assert.equal([again.status, again.text], [304, '']);
  const other = await call('/assets/icon.svg', { headers: { 'if-none-match': String(headers.etag) }, method: 'HEAD' });
  assert.equal([other.status, other.headers['content-type']], [200, 'image/svg+xml']);
  const missing = await call('/assets/none.js');
  assert.equal([missing.status, missing.body.code], [404, 'route_not_found']);
  assert.is((await call('/assets/style.css', { json: {} })).status, 404);
});

test('the form says that a session ended, and leads an operator who is signed in to the page', async () => {
  const call = await signedIn();
  const { status, headers } = await call('/sign-in');
  assert.equal([status, headers.location, headers['cache-control']], [303, './', 'no-store']);
  const form = async (path: string) => (await dashboard!.call(path)).text;
  assert.match(await form('/sign-in?ended'), 'Your session has ended');
  assert.not.match(await form('/sign-in'), /role="alert"/);
});

test('a sign-in is logged with the name, and a failed one with the reason', async () => {
  const longest = 'a'.repeat(limits.operatorNameLength);
  await signedIn({}, longest);
  await dashboard!.call('/sign-in', { form: { password: 'wrong' } });
  const lines = dashboard!.logged.map(({ operator, why, level }) => operator ?? (why && [why, level]));
  assert.equal(lines.filter(Boolean), [longest, ['wrong', 40]]);
});

test('the form marks a wrong password, and rounds the time to wait up to minutes', () => {
  const { identity } = recordedGroup(0).group;
  const wait = (retryAfterS: number) =>
    /Try again in ([^,]+),/.exec(signInPage(identity, { why: 'too_many', retryAfterS }))?.[1];
  assert.equal([1, 60, 61, 120].map(wait), ['1 minute', '1 minute', '2 minutes', '2 minutes']);
  assert.match(signInPage(identity, { why: 'wrong' }), / aria-invalid="true" aria-describedby="notice"/);
  assert.not.match(signInPage(identity, { why: 'unset' }), /aria-invalid/);
});

test.run();
