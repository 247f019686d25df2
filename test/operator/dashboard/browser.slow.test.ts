/** The dashboard as an operator uses it: a real node, a real Chromium. A complaint of its console fails the test. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { type Test, test as uvuTest } from 'uvu';
import * as assert from 'uvu/assert';
import { hashPassword, passwordFile } from '../../../src/operator/dashboard/sessions/password.js';
import { ask } from '../../http/exchange.js';
import { eventBody } from '../../http/samples.js';
import { startTestNode, type TestNode } from '../../support/node.js';
import { temporaryFolder } from '../../support/process.js';
import {
  complained,
  drawn,
  namelessOf,
  openPage,
  overflowOf,
  paleOf,
  type Seen,
  startBrowser,
  testInBrowser,
} from './browser.js';

const test: Test = uvuTest;
const password = 'correct horse battery';
const views = ['', ...'peers register players allowed pre-trust origins disputes erasure simulation audit'.split(' ')];

let node: TestNode;
let browser: Browser;
/** The operator's browser, kept from test to test. */
let seen: Seen;

const url = (): string => `${node.dashboardUrl}/`;

async function signIn(page: Page, word = password, at = url()): Promise<void> {
  await page.goto(at);
  await page.getByLabel('Your name').fill('alice');
  await page.getByLabel('Password').fill(word);
  await page.getByRole('button', { name: 'Sign in' }).click();
}

/** By the navigation, as an operator would. */
async function goTo(page: Page, name: string): Promise<void> {
  await page.getByRole('navigation').getByRole('link', { name, exact: true }).click();
  await page.getByRole('heading', { level: 1, name, exact: true }).waitFor();
}

/** Presses a button that asks a question, and says yes to it. */
async function confirm(page: Page, button: string, yes = button.replace('…', '')): Promise<void> {
  await page.getByRole('button', { name: button }).click();
  await page.getByRole('dialog').getByRole('button', { name: yes }).click();
}

/** Returns the public port's answer to an event of this key. */
async function submit(key: string, peer_id: string): Promise<number> {
  const json = eventBody({ peer_id, severity: 1, timestamp: new Date().toISOString() });
  return (await ask(node.url, '/api/v1/events', { key, json })).status;
}

/** Registers a peer in the group itself, and answers its id. */
async function add(peerName: string): Promise<string> {
  const registered = await node.group.register({ peerName, gameIds: ['arena'] }, 'test');
  if (!registered.ok) throw new Error(registered.code);
  return registered.value.peer.peerId;
}

/** Returns the public port's answer to a registration with this cookie. */
async function register(cookie: string): Promise<number> {
  const json = { peer_name: 'by cookie', game_ids: ['arena'] };
  return (await ask(node.url, '/api/v1/peers/register', { json, headers: { cookie } })).status;
}

async function cookieOf({ context }: Seen): Promise<string> {
  const cookie = (await context.cookies()).find(({ name }) => name === 'service_session');
  return `service_session=${cookie?.value}`;
}

function define(): void {
  let key = '';
  let peerId = '';

  test.before(async () => {
    node = await startTestNode({
      DASHBOARD_PORT: '0',
      GROUP_ID: 'eu-shooters',
      REGISTRATION_MODE: 'session',
      SESSION_SECRET: 'a secret of at least thirty-two bytes',
      WEIGHTS_INTERVAL_MS: '50',
    });
    writeFileSync(join(node.dir, passwordFile), await hashPassword(password), { mode: 0o600 });
    browser = await startBrowser();
    seen = await openPage(browser);
  });
  test.after(async () => {
    await browser?.close();
    await node?.close();
  });

  test('a wrong password is reported, and opens nothing', async () => {
    const { page } = seen;
    await signIn(page, 'a wrong password');
    assert.match((await page.getByRole('alert').textContent()) ?? '', /password is wrong/);
    // Chromium's console notes every document that comes with a status of 4xx.
    await complained(seen, 401);
    await page.goto(`${url()}#/peers`);
    await page.getByRole('button', { name: 'Sign in' }).waitFor();
  });

  test('the right password opens the overview, live', async () => {
    const { page } = seen;
    await signIn(page);
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    await page.getByText('live', { exact: true }).waitFor();
    await page.getByText('serving').waitFor();
    assert.is(await page.title(), 'Overview · eu-shooters · Peer Trust');
    await page.getByText('No players yet').waitFor();
    assert.equal(await namelessOf(page), []);
  });

  test('a peer is registered in the hosted form, and its key, displayed once, works', async () => {
    const { page } = seen;
    await goTo(page, 'Peers');
    await page.getByText('No peers yet').waitFor();
    await page.getByRole('link', { name: 'Register a peer' }).click();
    await page.getByLabel('Name').fill('Arena <b>EU</b> 1');
    await page.getByLabel('Games').fill('arena, chess\n go ');
    await page.getByRole('button', { name: 'Register' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.waitFor();
    assert.equal(node.group.peers(0, 1)[0]?.gameIds, ['arena', 'chess', 'go']);
    key = (await dialog.getByLabel('API key').textContent()) ?? '';
    assert.match(key, /^ptf_dev_[\w-]{43}$/);
    // Escape would lose the key for good, and Chromium asks a page only once.
    for (let i = 0; i < 4; i += 1) await page.keyboard.press('Escape');
    assert.ok(await dialog.isVisible());
    await dialog.getByRole('button', { name: 'I have stored it' }).click();
    await page.getByRole('heading', { name: 'Arena <b>EU</b> 1' }).waitFor();
    assert.not.ok((await page.content()).includes(key));
    peerId = decodeURIComponent(new URL(page.url()).hash.split('/').at(-1) ?? '');
    assert.is(await submit(key, peerId), 201);
  });

  test('an address of no page says so, also one that is a word of the language', async () => {
    const { page } = seen;
    for (const name of ['constructor', 'nothing/at/all']) {
      await page.evaluate(`location.hash = '#/${name}'`);
      await page.getByRole('heading', { level: 1, name: 'No such page' }).waitFor();
      await goTo(page, 'Overview');
    }
  });

  test('a peer is suspended after a question, and reinstated', async () => {
    const { page } = seen;
    await goTo(page, 'Peers');
    await page.getByRole('link', { name: 'Arena <b>EU</b> 1' }).click();
    const suspend = page.getByRole('button', { name: 'Suspend…' });
    await suspend.click();
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
    // Back to where it was asked from.
    assert.is(await page.evaluate('document.activeElement.textContent'), 'Suspend…');
    assert.is(await submit(key, peerId), 201);
    await confirm(page, 'Suspend…');
    await page.getByRole('button', { name: 'Reinstate…' }).waitFor();
    assert.is(await submit(key, peerId), 403);
    await confirm(page, 'Reinstate…');
    await suspend.waitFor();
    assert.is(await submit(key, peerId), 201);
  });

  test('the weight over time is drawn, and described in text', async () => {
    const { page } = seen;
    await page.locator('.plot canvas').waitFor();
    // A line needs a second sample, which comes ten seconds after the first.
    await drawn(page, '.plot', 400);
    const label = await page.getByRole('img', { name: 'Weight and gate' }).getAttribute('aria-label');
    // One peer alone has the default weight of an unknown one.
    assert.match(label ?? '', /Now: weight \d\.\d\d, gate 1\.00\.$/);
  });

  test('a plot that was made before its page was visible is drawn nevertheless', async () => {
    const { page } = seen;
    // The list of peers comes after the page has been laid out once, as from far away.
    await page.route('**/commands/peers-list', async (route) => {
      await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))');
      await route.continue();
    });
    await page.reload();
    await page.locator('.plot canvas').waitFor();
    await drawn(page, '.plot', 400);
    await page.unroute('**/commands/peers-list');
  });

  test('a rotated key kills the old one', async () => {
    const { page } = seen;
    await confirm(page, 'Rotate key…');
    const field = page.getByRole('dialog').getByLabel('API key');
    await field.waitFor();
    const next = (await field.textContent()) ?? '';
    await page.getByRole('button', { name: 'I have stored it' }).click();
    assert.equal([await submit(key, peerId), await submit(next, peerId)], [401, 201]);
    key = next;
  });

  test('a player is looked up by its account id, which appears in no address', async () => {
    const { page } = seen;
    await goTo(page, 'Players');
    await page.getByLabel('Player').fill('nobody');
    await page.getByRole('button', { name: 'Look up' }).click();
    await page.getByText('This player is unknown').waitFor();
    // The answer is a 404, and Chromium's console notes those of a page's own calls.
    await complained(seen, 404);
    await page.getByLabel('Player').fill('player-1');
    await page.getByRole('button', { name: 'Look up' }).click();
    await page.getByRole('heading', { name: 'Score' }).waitFor();
    assert.match((await page.locator('.score').textContent()) ?? '', /of 100/);
    assert.not.match(page.url(), /player-1/);
    assert.not.ok(((await page.locator('main').textContent()) ?? '').includes(peerId));
  });

  test('a selection in a list stays when the list is redrawn', async () => {
    const { page } = seen;
    await goTo(page, 'Pre-trust');
    await page.getByLabel('Peer').selectOption({ label: 'Arena <b>EU</b> 1' });
    await add('Latecomer');
    await page.locator('option', { hasText: 'Latecomer' }).waitFor({ state: 'attached' });
    assert.is(await page.getByLabel('Peer').inputValue(), peerId);
  });

  test('a peer is pre-trusted, and the audit log names who did it', async () => {
    const { page } = seen;
    await goTo(page, 'Pre-trust');
    await page.getByText('No pre-trusted peers').waitFor();
    await page.getByLabel('Peer').selectOption({ label: 'Arena <b>EU</b> 1' });
    await confirm(page, 'Add…', 'Pre-trust');
    await page.getByRole('button', { name: 'Remove Arena <b>EU</b> 1' }).waitFor();
    await goTo(page, 'Audit');
    const newest = page.locator('.table tbody tr').first();
    await newest.waitFor();
    assert.match((await newest.textContent()) ?? '', /operator:alice \(dashboard\)/);
    await page.getByRole('button', { name: 'Verify the chain' }).click();
    await page.getByText(/The chain is intact: \d+ entries/).waitFor();
    await page.getByRole('button', { name: 'Verify the whole store' }).click();
    await page.getByText(/The store is intact: \d+ records/).waitFor();
  });

  test('a peer whose name hides itself, or another, is seen and reached', async () => {
    const { page } = seen;
    const blank = await add(' \u200b\u3164');
    await add('\u202eUE anerA');
    await goTo(page, 'Peers');
    await page.getByRole('link', { name: '<202e>UE anerA' }).waitFor();
    await page.getByRole('link', { name: blank }).click();
    await page.getByRole('heading', { level: 1, name: blank }).waitFor();
  });

  test('the audit log distinguishes a peer from an operator with the same name', async () => {
    const { page } = seen;
    const id = await add('operator');
    await goTo(page, 'Audit');
    await page
      .locator('.table')
      .getByRole('link', { name: `operator (${id.slice(0, 8)}…)`, exact: true })
      .click();
    await page.getByRole('heading', { level: 1, name: 'operator' }).waitFor();
    assert.ok(page.url().endsWith(id));
  });

  test('older entries of the audit log that could not be had are asked for again', async () => {
    const { page } = seen;
    for (let i = 0; i < 60; i++) await add(`Crowd ${i}`);
    await goTo(page, 'Audit');
    const older = page.getByRole('button', { name: 'Older entries' });
    await older.waitFor();
    await page.route('**/commands/audit-tail', (route) =>
      route.fulfill({ status: 503, json: { error: 'too much at once', code: 'overloaded' } }),
    );
    await older.click();
    await page.getByText('Too much at once.').first().waitFor();
    await page.unroute('**/commands/audit-tail');
    seen.complaints.splice(0);
    await older.click();
    await page.getByText('group formed').waitFor();
    await page.getByRole('button', { name: 'Newer entries' }).click();
    await page.getByText('group formed').waitFor({ state: 'detached' });
    await page.getByLabel('Action', { exact: true }).fill('group formed');
    await page.getByRole('button', { name: 'Filter' }).click();
    await page.getByText('group formed').waitFor();
    assert.is(await page.locator('.table tbody tr').count(), 1);
  });

  test('erasures that wait and could not be listed are asked for again', async () => {
    const { page } = seen;
    let isBusy = true;
    const busy = { status: 503, json: { error: 'too much at once', code: 'overloaded' } };
    // Busy until the page has said so: on a slow machine it may ask again before anybody looks.
    await page.route('**/commands/erase-pending', (route) => (isBusy ? route.fulfill(busy) : route.continue()));
    await goTo(page, 'Erasure');
    await page.locator('main').getByText('Too much at once.').waitFor();
    isBusy = false;
    await page.getByText('No waiting erasures').waitFor();
    await page.unroute('**/commands/erase-pending');
    const complaints = seen.complaints.splice(0);
    assert.ok(complaints.length > 0 && complaints.every((text) => /\b503\b/.test(text)), complaints.join());
  });

  test('a player is erased by its hash, with a receipt', async () => {
    const { page } = seen;
    await goTo(page, 'Players');
    await page.getByLabel('Player').fill('player-1');
    await page.getByRole('button', { name: 'Look up' }).click();
    const hash = (await page.locator('.hash').first().textContent()) ?? '';
    await goTo(page, 'Erasure');
    await page.getByText('No waiting erasures').waitFor();
    await page.getByLabel('Subject hash').fill(hash);
    await confirm(page, 'Erase…');
    await page.getByRole('heading', { name: 'Erased' }).waitFor();
    assert.is(node.group.trust(Buffer.from(hash, 'hex')), undefined);
  });

  test('the page is used by keys alone', async () => {
    const { page } = seen;
    await goTo(page, 'Peers');
    await page.reload();
    await page.getByRole('heading', { level: 1 }).waitFor();
    await page.keyboard.press('Tab');
    assert.is(await page.evaluate('document.activeElement.textContent'), 'Skip to content');
    await page.keyboard.press('Enter');
    assert.is(await page.evaluate('document.activeElement.id'), 'main');
    assert.match(page.url(), /#\/peers$/);
    await page.getByRole('link', { name: 'Register a peer' }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Register a peer' }).waitFor();
    assert.is(await page.evaluate('document.activeElement.tagName'), 'H1');
  });

  test('no view is wider than a phone, in light or dark, every field has a name, and every text its contrast', async () => {
    const state = await seen.context.storageState();
    for (const colorScheme of ['light', 'dark'] as const) {
      const narrow = await openPage(browser, {
        storageState: state,
        colorScheme,
        viewport: { width: 360, height: 740 },
      });
      for (const view of [...views, `peers/${peerId}`]) {
        await narrow.page.goto(`${url()}#/${view}`);
        await narrow.page.reload();
        await narrow.page.getByRole('heading', { level: 1 }).waitFor();
        await narrow.page.getByText('live', { exact: true }).waitFor({ state: 'attached' });
        assert.is(await overflowOf(narrow.page), 0, `${view} ${colorScheme}`);
        assert.equal(await namelessOf(narrow.page), [], view);
        assert.equal(await paleOf(narrow.page), [], `${view} ${colorScheme}`);
      }
      assert.equal(narrow.complaints, []);
      await narrow.context.close();
    }
  });

  test('on a phone the menu says whether it is open, also after the choice of a view', async () => {
    const viewport = { width: 360, height: 740 };
    const narrow = await openPage(browser, { storageState: await seen.context.storageState(), viewport });
    await narrow.page.goto(url());
    const menu = narrow.page.getByRole('button', { name: 'Menu' });
    await menu.click();
    assert.is(await menu.getAttribute('aria-expanded'), 'true');
    await goTo(narrow.page, 'Audit');
    assert.is(await menu.getAttribute('aria-expanded'), 'false');
    await menu.click();
    assert.is(await menu.getAttribute('aria-expanded'), 'true');
    await narrow.context.close();
  });

  test('a page outlives a stop of its node, and leads to the form once there is one again', async () => {
    const dir = temporaryFolder();
    writeFileSync(join(dir, passwordFile), await hashPassword(password), { mode: 0o600 });
    const before = await startTestNode({ DATA_DIR: dir, DASHBOARD_PORT: '0' });
    const at = `${before.dashboardUrl}/`;
    const open = await openPage(browser);
    await signIn(open.page, password, at);
    await open.page.getByText('live', { exact: true }).waitFor();
    await before.close();
    await open.page.getByText('The node does not answer').first().waitFor();
    await open.page.getByRole('heading', { name: 'Overview' }).waitFor();
    const after = await startTestNode({ DATA_DIR: dir, DASHBOARD_PORT: new URL(at).port });
    await open.page.getByRole('button', { name: 'Sign in' }).waitFor();
    await open.context.close();
    await after.close();
  });

  test('the cookie registers on the public port too, until its session is signed out', async () => {
    const { page } = seen;
    const cookie = await cookieOf(seen);
    assert.is(await register(cookie), 201);
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('button', { name: 'Sign in' }).waitFor();
    assert.is(await register(cookie), 401);
    await page.goto(url());
    await page.getByRole('button', { name: 'Sign in' }).waitFor();
    assert.is(await cookieOf(seen), 'service_session=undefined');
  });

  test('a page whose session ends elsewhere leads to the form by itself', async () => {
    const { page } = seen;
    await signIn(page);
    await page.getByText('live', { exact: true }).waitFor();
    writeFileSync(join(node.dir, passwordFile), await hashPassword('another password'));
    await page.getByRole('button', { name: 'Sign in' }).waitFor();
    await complained(seen, 401);
  });

  test('the console had nothing to complain about', () => assert.equal(seen.complaints, []));
}

testInBrowser(define, 'the dashboard is not used in a browser');
