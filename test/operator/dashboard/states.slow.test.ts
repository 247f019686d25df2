/**
 * The dashboard of a group in each of its states, in a real Chromium: over a group that answers as a test wants it, and
 * over a node whose process is stopped. A message on the console fails the test.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, BrowserContextOptions, Locator, Page } from 'playwright-core';
import { type Test, test as uvuTest } from 'uvu';
import * as assert from 'uvu/assert';
import { granted } from '../../../src/errors.js';
import type { GroupApi, PeerSignals, PeerView, VerdictCounts } from '../../../src/group/api.js';
import { limits } from '../../../src/limits.js';
import { hashPassword, passwordFile } from '../../../src/operator/dashboard/sessions/password.js';
import { endAll, startProcess, temporaryFolder } from '../../support/process.js';
import { until } from '../../support/until.js';
import { explanation, peerView, recordedGroup } from '../recorded-group.js';
import {
  cutBadgesOf,
  cutBoxesOf,
  namelessOf,
  openPage,
  overflowOf,
  paleOf,
  type Seen,
  startBrowser,
  testInBrowser,
} from './browser.js';
import { noLatencies, password, startTestDashboard, type TestDashboard } from './dashboard.js';

const test: Test = uvuTest;
const wide = { width: 1280, height: 900 };
const narrow = { width: 390, height: 844 };
const fixed = recordedGroup(0).group;

let browser: Browser;
/** Resources that a test opened, closed in this order after it, whether it failed or not. */
const opened: (() => Promise<unknown>)[] = [];
const windows: Seen[] = [];
/** Complaints of the consoles of closed windows, each behind the name of its test. */
const complaints: string[] = [];

async function serve(...how: Parameters<typeof startTestDashboard>): Promise<TestDashboard> {
  const dashboard = await startTestDashboard(...how);
  opened.push(() => dashboard.close());
  return dashboard;
}

/** Opens an empty page. The last test fails if its console complains. */
async function openWindow(options: BrowserContextOptions): Promise<Seen> {
  const seen = await openPage(browser, options);
  opened.unshift(() => seen.context.close());
  windows.push(seen);
  return seen;
}

/** Opens a view as a signed-in operator, and waits until the page is live. */
async function open(dashboard: TestDashboard, view: string, options: BrowserContextOptions = {}): Promise<Page> {
  const { page, context } = await openWindow({ viewport: wide, ...options });
  const cookie = await dashboard.signIn('alice');
  const at = cookie.indexOf('=');
  await context.addCookies([{ name: cookie.slice(0, at), value: cookie.slice(at + 1), url: dashboard.url }]);
  await goTo(page, dashboard, view);
  return page;
}

async function goTo(page: Page, dashboard: TestDashboard, view: string): Promise<void> {
  await page.goto(`${dashboard.url}/#/${view}`);
  await page.reload();
  await page.getByRole('heading', { level: 1 }).waitFor();
  await page.getByText('live', { exact: true }).waitFor({ state: 'attached' });
}

/** A group of these peers, and its signals by the peer's number. */
function groupOf(peers: readonly PeerView[], signals: readonly (PeerSignals | undefined)[] = []): Partial<GroupApi> {
  return {
    peers: (from, limit) => peers.slice(from, from + limit),
    peerById: (id) => peers.find(({ peerId }) => peerId === id),
    signals: ({ index }) => signals[index],
    counts: () => ({ peers: peers.length, players: 0, events: 0 }),
    status: () => ({
      ...fixed.status(),
      preTrusted: peers.filter((peer) => peer.preTrusted).map(({ peerId }) => peerId),
    }),
  };
}

function peersOf(changes: readonly Partial<PeerView>[]): PeerView[] {
  return changes.map((change, index) => ({ ...peerView(index), ...change }));
}

/** Weights that no other order of these peers gives: not that of registration, of names or of events. */
const weighted = peersOf([
  { peerName: 'Alpha', weight: 0.5 },
  { peerName: 'Bravo', weight: 0, tau: 0, eventCount: 9 },
  { peerName: 'Carol', weight: 0.92 },
  { peerName: 'Delta', weight: 0.07, eventCount: 7 },
  { peerName: 'Echo', weight: 1 },
]);
const byWeight = ['Echo', 'Carol', 'Alpha', 'Delta', 'Bravo'];

const namesOf = (page: Page): Promise<string[]> => page.locator('.table tbody .name').allTextContents();

const shared = { players: 30, sharedPlayers: 12, discountedWith: [], oneWitnessWith: [] };
const colluding = { ...shared, discountedWith: [{ peerId: 'peer-4', sharedPlayers: 5, agreement: 0.9 }] };
/** One of each reason for a weight of 0, and of each status, under names and games as long as they may be. */
const long = 'W'.repeat(limits.peerNameLength);
const everyKind = peersOf([
  { peerName: long, gameIds: ['g'.repeat(limits.gameIdLength), 'h'.repeat(limits.gameIdLength)], preTrusted: true },
  { peerName: 'Revoked', status: 'revoked', weight: 0, tau: 0, a: 0, b: 0 },
  { peerName: 'New', weight: 0, tau: 0 },
  { peerName: 'Silent', weight: 0, tau: 0 },
  { peerName: 'Foreign', weight: 0, tau: 0, peerId: 'p'.repeat(limits.peerIdLength) },
  { peerName: 'Distrusted', weight: 0, tau: 0 },
  { peerName: 'Random', weight: 0, tau: 1, a: 0, b: 0, status: 'suspended' },
]);
const everySignal = [
  shared,
  shared,
  undefined,
  { ...shared, players: 0, sharedPlayers: 0 },
  { ...shared, sharedPlayers: 0 },
  colluding,
  shared,
];
const reasons: Readonly<Record<string, string>> = {
  Revoked: 'weight 0: revoked',
  New: 'weight 0: not computed yet',
  Silent: 'weight 0: has reported no player',
  Foreign: 'weight 0: shares no player with other peers; check its salt and ids',
  Distrusted: 'weight 0: agrees with no trusted peer on 12 shared players',
  Random: 'weight 0: right no more often than chance on 12 shared players',
};

/** A player of 240 events by four peers. */
const player: Partial<GroupApi> = {
  trust: () => ({
    score: 31.25,
    confidence: 0.5,
    verdict: 'suspicious',
    eventCount: 240,
    updatedAt: 0,
    isCoarse: false,
  }),
  explain: () => ({ ...explanation, lowering: 12.5, raising: 3.5, peers: 4, weightsBasedOnSeq: 1_234_567 }),
  playerEvents: async () =>
    granted({
      total: 240,
      summarised: 200,
      summary: [{ eventType: 'report_cheating' as const, week: '2026-W47', count: 200 }],
      own: [],
      next: null,
    }),
};

async function lookUp(page: Page): Promise<void> {
  await page.getByLabel('Player').fill('5f'.repeat(32));
  await page.getByRole('button', { name: 'Look up' }).click();
  await page.getByRole('heading', { name: 'Score' }).waitFor();
}

function cardOf(page: Page, title: string): Locator {
  return page.locator('section.card', { has: page.getByRole('heading', { name: title, exact: true }) });
}

function define(): void {
  test.before(async () => {
    browser = await startBrowser();
  });
  test.after.each(async ({ __test__: name }) => {
    for (const close of opened.splice(0)) await close();
    // Not refused here: uvu loses the failure of a test behind which a hook throws, and all tests after it.
    for (const seen of windows.splice(0)) complaints.push(...seen.complaints.map((text) => `${name}: ${text}`));
  });
  test.after(async () => {
    await browser?.close();
    endAll();
  });

  test('peers are sorted by weight at the head of the table, the heaviest first, then the lightest', async () => {
    const page = await open(await serve(groupOf(weighted)), 'peers');
    const head = page.getByRole('columnheader', { name: 'Weight' });
    await head.waitFor();
    assert.equal(await namesOf(page), ['Alpha', 'Bravo', 'Carol', 'Delta', 'Echo']);
    assert.not.ok(await page.getByLabel('Sort by').isVisible());
    await head.getByRole('button').click();
    assert.equal(await namesOf(page), byWeight);
    assert.is(await head.getAttribute('aria-sort'), 'descending');
    const weights = await page.locator('.table td[data-title="Weight"]').allTextContents();
    assert.equal(weights, ['1.000', '0.920', '0.500', '0.070', '0.000']);
    await head.getByRole('button').click();
    assert.equal(await namesOf(page), byWeight.toReversed());
    assert.is(await head.getAttribute('aria-sort'), 'ascending');
  });

  test('on a phone, where the table has no head, peers are sorted by weight with a field', async () => {
    const page = await open(await serve(groupOf(weighted)), 'peers', { viewport: narrow });
    await page.getByRole('link', { name: 'Alpha' }).waitFor();
    assert.not.ok(await page.locator('.table thead').isVisible());
    const field = page.getByLabel('Sort by');
    await field.selectOption({ label: 'By weight' });
    assert.equal(await namesOf(page), byWeight);
    await field.selectOption({ label: 'In order of registration' });
    assert.equal(await namesOf(page), ['Alpha', 'Bravo', 'Carol', 'Delta', 'Echo']);
  });

  test('each peer of weight 0 has a reason, on the list and on its own page, and is not green', async () => {
    const page = await open(await serve(groupOf(everyKind, everySignal)), 'peers');
    for (const [name, reason] of Object.entries(reasons)) {
      await page.getByRole('link', { name: 'Silent' }).waitFor();
      const row = page.locator('.table tbody tr', { has: page.getByRole('link', { name, exact: true }) });
      assert.match((await row.locator('td[data-title="Remarks"]').textContent()) ?? '', reason);
      assert.is(await row.locator('.badge.active').count(), 0, name);
      await page.getByRole('link', { name, exact: true }).click();
      await page.getByRole('heading', { level: 1, name }).waitFor();
      const remarks = page.locator('.facts dd').last().locator('> div');
      await remarks.getByText(reason, { exact: true }).waitFor();
      // Collusion is suspected only where pairs are discounted.
      const further = name === 'Distrusted' ? ['discounted with 1 peer: perhaps they collude'] : [];
      assert.equal(await remarks.allTextContents(), [reason, ...further]);
      assert.is(await page.locator('.facts .badge.active').count(), 0, name);
      await page.getByRole('navigation').getByRole('link', { name: 'Peers', exact: true }).click();
    }
  });

  test('a group without players and one without a look-up show different texts', async () => {
    let players = 0;
    const noVerdicts = { trusted: 0, neutral: 0, suspicious: 0, untrusted: 0 };
    let counted: VerdictCounts = { counts: noVerdicts, sampled: 0, players: 0, seq: 1 };
    const counts = () => ({ peers: 3, players, events: players });
    const dashboard = await serve({
      counts,
      status: () => ({ ...fixed.status(), counts: counts() }),
      verdictCounts: async () => granted(counted),
    });
    const page = await open(dashboard, '');
    const verdicts = cardOf(page, 'Verdicts');
    await verdicts.getByText('No players yet', { exact: true }).waitFor();
    assert.is(await verdicts.getByText('No player looked up yet').count(), 0);
    players = 292;
    await verdicts.getByText('No player looked up yet', { exact: true }).waitFor();
    assert.match((await verdicts.textContent()) ?? '', /292 players in the group/);
    assert.is(await verdicts.getByText('No players yet').count(), 0);
    counted = { ...counted, counts: { ...noVerdicts, neutral: 292 }, sampled: 292, players: 292 };
    await verdicts.getByText('All 292 players.').waitFor();
    assert.not.match((await verdicts.textContent()) ?? '', /No player/);
    await goTo(page, dashboard, 'players');
    await page.getByText('No player looked up yet', { exact: true }).waitFor();
    assert.not.match((await page.locator('main').textContent()) ?? '', /No players yet/);
  });

  test('an audit log that was searched in part is not said to have no entry that matches', async () => {
    const entry = { at: 0, action: 'a', actor: 'b', target: 'c', prevHash: 'd', hash: 'e' };
    const auditTail: GroupApi['auditTail'] = async (count, before = 1_000_000) => {
      const entries = Array.from({ length: count }, (_, i) => ({ ...entry, seq: before - count + i }));
      return granted({ entries, nextAfter: null });
    };
    const page = await open(await serve({ auditTail }), 'audit');
    await page.getByLabel('Action', { exact: true }).fill('erasure');
    await page.getByRole('button', { name: 'Filter' }).click();
    await page.getByText('No entries', { exact: true }).waitFor();
    assert.match((await page.locator('main').textContent()) ?? '', 'older ones were not searched yet');
  });

  test('the newest decisions about disputes are shown, and older ones are said to exist', async () => {
    const [some] = fixed.disputes();
    const disputes: GroupApi['disputes'] = (status, from = 0, to = 0) => {
      if (status !== 'decided') return [];
      return Array.from({ length: to - from }, (_, i) => ({ ...some!, id: `${i}`, text: `no ${i}`, status: 'upheld' }));
    };
    const page = await open(await serve({ disputes }), 'disputes');
    await page.getByText('no 0', { exact: true }).waitFor();
    await page.getByText('There are more; these are the last decided ones.').waitFor();
  });

  test('a dispute tells two peers of one name apart, and so does the question whose events become void', async () => {
    const [some] = fixed.disputes();
    const ids = ['aaaaaaaa-1111', 'bbbbbbbb-2222'];
    const [first, second] = ids.map((peerId) => ({ ...some!.reporters[0]!, peerId, peerName: 'Twin' }));
    const twins = peersOf(ids.map((peerId) => ({ peerId, peerName: 'Twin' })));
    const dispute = { ...some!, against: second!, alsoNamed: [first!], reporters: [first!, second!] };
    const disputes: GroupApi['disputes'] = (status) => (status === 'open' ? [dispute] : []);
    const page = await open(await serve({ ...groupOf(twins), disputes }), 'disputes');
    const evidence = '3 events, lowering, last 1970-01-01';
    const factOf = async (name: string) => {
      const fact = page.locator('.facts > div', { has: page.getByText(name, { exact: true }) });
      return ((await fact.locator('dd').textContent()) ?? '').replace(/\s+/g, ' ');
    };
    assert.match(await factOf('Against'), /^Twin \(bbbbbbbb…\)$/);
    assert.match(await factOf('Text also names'), /^Twin \(aaaaaaaa…\)$/);
    const held = await factOf('Lowering evidence');
    for (const id of ['aaaaaaaa', 'bbbbbbbb']) assert.match(held, `Twin (${id}…): ${evidence}`);
    await page.getByRole('button', { name: /^Uphold the dispute/ }).click();
    const boxes = (await page.getByRole('dialog').locator('label.check').allTextContents()).map((box) => box.trim());
    assert.equal(
      boxes.map((box) => box.slice(0, 16)),
      ['Twin (aaaaaaaa…)', 'Twin (bbbbbbbb…)'],
    );
  });

  test('a dispute is not upheld against a peer whose box was cleared', async () => {
    const dashboard = await serve({ disputes: (status) => (status === 'open' ? fixed.disputes() : []) });
    const page = await open(dashboard, 'disputes');
    await page.getByRole('button', { name: /^Uphold the dispute/ }).click();
    await page.getByRole('checkbox').uncheck();
    await page.getByRole('dialog').getByRole('button', { name: 'Uphold' }).click();
    await page.getByRole('dialog').getByText('Choose at least one peer.').waitFor();
    assert.is(dashboard.calls.filter(([method]) => method === 'decideDispute').length, 0);
  });

  test('the form leaves a registered peer although the peers cannot be listed then', async () => {
    const page = await open(await serve(), 'register');
    await page.getByLabel('Name').fill('Arena');
    await page.getByLabel('Games').fill('arena');
    await page.getByRole('button', { name: 'Register' }).click();
    const busy = { status: 503, json: { error: 'too much at once', code: 'overloaded' } };
    await page.route('**/commands/peers-list', (route) => route.fulfill(busy));
    await page.getByRole('button', { name: 'I have stored it' }).click();
    await page.getByText('Peer 0 is registered.', { exact: true }).waitFor();
    await page.waitForURL(/#\/peers\/peer-0$/);
    // Its console notes each answer of 503, of which more may come.
    windows.length = 0;
  });

  test('an erasure that waits is replaced by another one although as many wait as before', async () => {
    let subject = 'a'.repeat(64);
    const requests = [{ requestedAt: 0, peerId: null, reason: 'operator_mode' as const }];
    const unknown = { trust: () => undefined, explain: () => undefined };
    const page = await open(await serve({ ...unknown, pendingErasures: () => [{ subject, requests }] }), 'erasure');
    await page.getByText(subject, { exact: true }).waitFor();
    subject = 'b'.repeat(64);
    await page.getByText(subject, { exact: true }).waitFor();
  });

  test('players of a verdict are found behind those that the first read of the list covers', async () => {
    const found = { subject: '5f'.repeat(32), score: 10, confidence: 0.5, eventCount: 2, updatedAt: 0 };
    // Each request reads 1,000 of 15,000 players, the last of whom alone has the verdict.
    const playersBy: GroupApi['playersBy'] = (_, from) =>
      from < 14_000
        ? { players: [], next: from + 1_000 }
        : { players: [{ ...found, verdict: 'untrusted' }], next: null };
    const page = await open(await serve({ playersBy }), 'players');
    const listed = cardOf(page, 'By verdict');
    await listed.getByText('None among the players read so far.').waitFor();
    await listed.getByRole('button', { name: 'Show more' }).click();
    await listed.locator('.badge.untrusted').waitFor();
    assert.is(await listed.getByRole('button', { name: 'Show more' }).count(), 0);
  });

  test('a plot of latencies without requests is a sentence, and a plot once there is a request', async () => {
    let total = 0;
    const traffic = () => ({
      idsRefused: 0,
      events: noLatencies,
      reads: { boundsS: [0.001, 1], upTo: [total, total], total },
    });
    const page = await open(await serve({}, traffic), '');
    const latency = cardOf(page, 'Latency');
    const text = latency.getByText('No requests in the last hour.', { exact: true });
    await text.waitFor();
    assert.not.ok(await latency.locator('.plot').isVisible());
    assert.not.ok(await latency.locator('.legend').isVisible());
    // A rate of 0 is a value: its line is drawn.
    assert.ok(await cardOf(page, 'Traffic').locator('.plot canvas').isVisible());
    total = 40;
    await latency.locator('.plot canvas').waitFor();
    await text.waitFor({ state: 'hidden' });
  });

  test('no view is wider than a phone, and each status is fully visible, also of a node that takes no writes', async () => {
    const identity = { ...fixed.identity, groupId: 'g'.repeat(limits.peerNameLength) };
    const group = groupOf(everyKind, everySignal);
    const status = () => ({ ...group.status!(), writable: false, reason: 'disk_low' as const });
    const dashboard = await serve({ ...group, ...player, identity, status });
    const page = await open(dashboard, '', { viewport: narrow });
    const holds = async (view: string, badgesMin: number): Promise<void> => {
      assert.is(await overflowOf(page), 0, view);
      assert.equal(await cutBoxesOf(page), [], view);
      assert.equal(await cutBadgesOf(page), [], view);
      assert.equal(await namelessOf(page), [], view);
      const badges = await page.locator('.badge:visible').count();
      assert.ok(badges >= badgesMin, `${view}: ${badges} badges`);
    };
    await page.locator('.brand').getByText('reads only').waitFor();
    await page.getByText('No requests in the last hour.').waitFor();
    await holds('overview', 1);
    await goTo(page, dashboard, 'players');
    await holds('players', 1);
    await lookUp(page);
    await holds('a player', 2);
    await goTo(page, dashboard, 'peers');
    await page.getByRole('link', { name: 'Silent' }).waitFor();
    // The node's, each peer's status, the reasons, the pre-trusted one and the discounted one.
    await holds('peers', 1 + everyKind.length + Object.keys(reasons).length + 2);
    await goTo(page, dashboard, 'pre-trust');
    await page.getByRole('button', { name: 'Remove' }).waitFor();
    await holds('pre-trusted peers', 2);
    for (const { peerId } of everyKind) {
      await goTo(page, dashboard, `peers/${peerId}`);
      await page.getByRole('heading', { name: 'Weight over time' }).waitFor();
      await holds(`peer ${peerId}`, 2);
    }
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('button', { name: 'Sign in' }).waitFor();
    await holds('signed out', 0);
  });

  test('in a wide window no table of the allow list or of origins reaches beyond its card', async () => {
    const dashboard = await serve({
      allowedPlayers: () => [{ subject: 'a'.repeat(64), entryId: 'an entry', until: 0, note: 'appeal 4711' }],
      origins: () => [
        { name: 'a-public-list', declaredAt: 0, isDeclared: true, carriers: [], weight: 0, tau: 0, a: 0, b: 0 },
      ],
    });
    const page = await open(dashboard, '');
    for (const view of ['allowed', 'origins']) {
      await goTo(page, dashboard, view);
      await page.getByRole('button', { name: /Remove/ }).waitFor();
      const beyond = await page.evaluate(`(() => {
        const table = document.querySelector('.table');
        return table.getBoundingClientRect().right - table.closest('.card').getBoundingClientRect().right;
      })()`);
      assert.ok(Number(beyond) < 0, `${view}: ${beyond} pixels`);
    }
  });

  test('every text and every badge has its contrast, in light and in dark, in each state of the node', async () => {
    let condition: Partial<ReturnType<GroupApi['status']>> = {};
    const group = groupOf(everyKind, everySignal);
    const status = () => ({ ...fixed.status(), ...condition });
    const check = { ...fixed.status().check, faults: ['record 7 is damaged'] };
    const dashboard = await serve({ ...group, status });
    const page = await open(dashboard, '');
    const grounds = new Set<unknown>();
    const holds = async (state: string): Promise<void> => {
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme });
        grounds.add(await page.evaluate('getComputedStyle(document.body).backgroundColor'));
        assert.equal(await paleOf(page), [], `${state}, ${colorScheme}`);
      }
    };
    await page.locator('.badge.active', { hasText: 'serving' }).waitFor();
    await holds('serving');
    condition = { writable: false, reason: 'disk_low', check };
    await page.locator('main .badge.suspicious').waitFor();
    await page.locator('main .badge.untrusted').waitFor();
    await holds('reads only');
    condition = { ready: false, writable: false, reason: 'recovering' };
    await page.locator('.brand .badge.untrusted', { hasText: 'recovering' }).waitFor();
    await holds('not ready');
    await goTo(page, dashboard, 'peers');
    for (const look of ['active', 'suspended', 'revoked', 'warn', 'pre-trusted']) {
      await page.locator(`.table .badge.${look}`).first().waitFor();
    }
    await holds('peers');
    assert.is(grounds.size, 2);
  });

  test('a page of a stopped node is marked as outdated within 5 s, and live again without a reload', async () => {
    const dir = temporaryFolder();
    writeFileSync(join(dir, passwordFile), await hashPassword(password), { mode: 0o600 });
    const node = await startProcess({ DATA_DIR: dir, DASHBOARD_PORT: '0', LOG_LEVEL: 'info' });
    const [line] = /^.*"msg":"listening".*$/m.exec(node.output()) ?? [''];
    const { dashboard } = JSON.parse(line) as { dashboard: { host: string; port: number } };
    const { page } = await openWindow({ viewport: narrow });
    opened.push(async () => {
      await node.kill('SIGKILL');
    });
    await page.clock.install();
    await page.goto(`http://${dashboard.host}:${dashboard.port}/`);
    await page.getByLabel('Password').fill(password);
    await page.getByRole('button', { name: 'Sign in' }).click();
    const status = page.locator('.brand .badge');
    await status.getByText('serving').waitFor();
    await page.evaluate('document.documentElement.dataset.loaded = "once"');
    const notice = page.getByRole('alert').filter({ hasText: 'The node does not answer' });
    const age = page.locator('.age');
    assert.not.ok(await notice.isVisible());
    // The page's own seconds pass only when the test lets them, and nothing is on its way right after an overview.
    await page.clock.pauseAt(Date.now() + 2_000);
    await until(async () => {
      await page.clock.runFor(200);
      return (await age.textContent()) === 'updated 0 s ago';
    });
    process.kill(node.child.pid!, 'SIGSTOP');
    try {
      await page.clock.runFor(5_000);
      assert.ok(await notice.isVisible());
      assert.match((await age.textContent()) ?? '', /^updated [45] s ago$/);
      assert.ok(await age.isVisible());
      assert.is(await status.textContent(), 'no answer');
      assert.is(await page.locator('.brand .badge.active').count(), 0);
      assert.is(await page.evaluate(`getComputedStyle(document.querySelector('main')).filter`), 'grayscale(1)');
      assert.equal(await cutBadgesOf(page), []);
      assert.is(await overflowOf(page), 0);
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme });
        assert.equal(await paleOf(page), [], colorScheme);
      }
      await page.clock.runFor(60_000);
      assert.match((await age.textContent()) ?? '', /^updated 1 min ago$/);
    } finally {
      process.kill(node.child.pid!, 'SIGCONT');
    }
    await status.getByText('serving').waitFor();
    await notice.waitFor({ state: 'hidden' });
    assert.is(await age.textContent(), 'updated 0 s ago');
    assert.is(await page.evaluate(`getComputedStyle(document.querySelector('main')).filter`), 'none');
    assert.is(await page.evaluate('document.documentElement.dataset.loaded'), 'once');
  });

  test('no console had anything to complain about', () => assert.equal(complaints, []));
}

testInBrowser(define, 'the states of the dashboard are not looked at');
