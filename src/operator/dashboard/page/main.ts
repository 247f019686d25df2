/** Starts the page: builds its frame, shows the present view, and handles the navigation between views. */
import type { SessionValue } from '../wire.js';
import { errorText, get } from './api.js';
import { button, fill, h } from './dom.js';
import { span } from './format.js';
import { type Connection, Live } from './live.js';
import { notices, notify } from './notice.js';
import { Peers } from './peers.js';
import { nextTheme, theme } from './theme.js';
import { heading, link, type View, type ViewContext } from './view.js';
import { auditView } from './views/audit-view.js';
import { clusterView } from './views/cluster-view.js';
import { disputesView } from './views/disputes-view.js';
import { erasureView } from './views/erasure-view.js';
import { overviewView } from './views/overview-view.js';
import { peerView } from './views/peer-view.js';
import { peersView } from './views/peers-view.js';
import { playerView } from './views/player-view.js';
import { preTrustView } from './views/pre-trust-view.js';
import { registerView } from './views/register-view.js';

interface Place {
  readonly view: (context: ViewContext) => View;
  /** The navigation entry to which the view belongs. */
  readonly under: string;
}

const places: Readonly<Record<string, Place>> = {
  '': { view: overviewView, under: '' },
  peers: { view: peersView, under: 'peers' },
  'peers/': { view: peerView, under: 'peers' },
  register: { view: registerView, under: 'peers' },
  players: { view: playerView, under: 'players' },
  'pre-trust': { view: preTrustView, under: 'pre-trust' },
  disputes: { view: disputesView, under: 'disputes' },
  erasure: { view: erasureView, under: 'erasure' },
  audit: { view: auditView, under: 'audit' },
  cluster: { view: clusterView, under: 'cluster' },
};

const navigation: readonly (readonly [string, string])[] = [
  ['', 'Overview'],
  ['peers', 'Peers'],
  ['players', 'Players'],
  ['pre-trust', 'Pre-trust'],
  ['disputes', 'Disputes'],
  ['erasure', 'Erasure'],
  ['audit', 'Audit'],
];

const connectionText: Readonly<Record<Connection, string>> = {
  connecting: 'connecting',
  live: 'live',
  lost: 'no answer from the node, trying again',
};

async function start(): Promise<void> {
  const session = await get<SessionValue>('session');
  const connection = h('span', { class: 'connection connecting', role: 'status' }, connectionText.connecting);
  const health = h('span', { class: 'badge' });
  const main = h('main', { id: 'main', tabindex: -1 });
  const nav = h(
    'nav',
    { 'aria-label': 'Main', id: 'nav' },
    h(
      'ul',
      {},
      [...navigation, ...(session.clustered ? [['cluster', 'Cluster'] as const] : [])].map(([to, text]) =>
        h('li', {}, link(to, text)),
      ),
    ),
  );
  const age = h('small', { class: 'age muted' });
  const stale = h('p', { class: 'notice notice-bad stale-notice', role: 'alert', hidden: true });
  const live = new Live({
    onConnection(state) {
      connection.className = `connection ${state}`;
      fill(connection, connectionText[state]);
      const isLost = state === 'lost';
      document.documentElement.classList.toggle('stale', isLost);
      stale.hidden = !isLost;
      if (!isLost) return;
      fill(stale, 'The node does not answer. The figures are outdated; the page keeps asking until the node is back.');
      health.className = 'badge untrusted';
      fill(health, 'no answer');
    },
    onAge: (ageMs) => fill(age, ageMs === null ? null : `updated ${span(Math.round(ageMs / 1000))} ago`),
  });
  live.subscribe(({ status }) => {
    health.className = `badge ${status.ready ? (status.writable ? 'active' : 'suspicious') : 'untrusted'}`;
    fill(health, status.ready ? (status.writable ? 'serving' : 'reads only') : (status.reason ?? 'not ready'));
  });
  fill(document.querySelector('#app') ?? document.body, frame(session, nav, [stale, main], health, [age, connection]));
  document.body.append(notices);

  const peers = new Peers(live);
  let current: View | undefined;

  function show(isFirst: boolean): void {
    const [name = '', ...rest] = location.hash.replace(/^#\/?/, '').split('/');
    const place = places[rest.length > 0 ? `${name}/` : name];
    current?.destroy?.();
    const argument = decoded(rest.join('/'));
    current = place?.view({ live, peers, argument }) ?? unknownView();
    fill(main, current.element);
    document.title = `${current.title} · ${session.group_id} · Peer Trust`;
    for (const entry of nav.querySelectorAll('a')) {
      if (entry.getAttribute('href') === `#/${place?.under}`) entry.setAttribute('aria-current', 'page');
      else entry.removeAttribute('aria-current');
    }
    if (isFirst) return;
    scrollTo(0, 0);
    main.querySelector<HTMLElement>('h1')?.focus();
  }

  addEventListener('hashchange', () => show(false));
  document.querySelector('#skip')?.addEventListener('click', (event) => {
    // The address identifies the present view, so that the link must not change it.
    event.preventDefault();
    main.focus();
  });
  show(true);
}

function frame(
  session: SessionValue,
  nav: HTMLElement,
  stage: readonly HTMLElement[],
  health: HTMLElement,
  connection: readonly HTMLElement[],
): HTMLElement {
  const open = (isOpen: boolean): void => {
    nav.classList.toggle('open', isOpen);
    menu.setAttribute('aria-expanded', String(isOpen));
  };
  const menu = button('Menu', () => open(!nav.classList.contains('open')), {
    class: 'button small menu',
    'aria-controls': 'nav',
    'aria-expanded': 'false',
  });
  addEventListener('hashchange', () => open(false));
  const toggle = button('', () => showTheme(nextTheme()), { class: 'button small' });
  const showTheme = (name: string): void =>
    fill(
      toggle,
      h('span', { 'aria-hidden': 'true' }, '◐'),
      h('span', { class: 'theme-name' }, h('span', { class: 'hidden' }, 'Theme: '), name),
    );
  showTheme(theme());
  const signOut = h(
    'form',
    { method: 'post', action: 'sign-out' },
    h('button', { type: 'submit', class: 'button small' }, 'Sign out'),
  );
  return h(
    'div',
    { class: 'frame' },
    h(
      'header',
      { class: 'top' },
      h(
        'div',
        { class: 'brand' },
        h('img', { src: 'assets/icon.svg', alt: '', width: 28, height: 28 }),
        h(
          'div',
          { class: 'brand-text' },
          h('strong', {}, session.group_id),
          h('small', { class: 'muted' }, session.environment),
        ),
        health,
      ),
      h(
        'div',
        { class: 'top-end' },
        [...connection],
        session.operator !== null && h('span', { class: 'muted operator' }, session.operator),
        toggle,
        signOut,
        menu,
      ),
    ),
    nav,
    h('div', { class: 'stage' }, [...stage]),
  );
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function unknownView(): View {
  const element = h('div', {}, heading('No such page'), h('p', {}, link('', 'To the overview')));
  return { title: 'No such page', element };
}

start().catch((error: unknown) => notify(errorText(error), 'bad'));
