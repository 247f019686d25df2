/** Starts the page: draws its frame with the present view, and handles the navigation between views. */
import type { OverviewValue, SessionValue } from '../wire.js';
import { drawnDialog } from './dialog.js';
import { drawnNotices, drawnView, notify, redraw, startDrawing, type View, type ViewContext } from './draw.js';
import { count, span } from './format.js';
import { badge, button, type Child, focusHeading, html, link } from './html.js';
import { Peers } from './listed-peers.js';
import { type Connection, Live } from './live-overview.js';
import { errorText, get } from './requests.js';
import { allowView } from './views/allow-view.js';
import { auditView } from './views/audit-view.js';
import { clusterView } from './views/cluster-view.js';
import { disputesView } from './views/disputes-view.js';
import { erasureView } from './views/erasure-view.js';
import { originsView } from './views/origins-view.js';
import { overviewView } from './views/overview-view.js';
import { peerView } from './views/peer-view.js';
import { peersView } from './views/peers-view.js';
import { playerView } from './views/player-view.js';
import { preTrustView } from './views/pre-trust-view.js';
import { registerView } from './views/register-view.js';
import { simulationView } from './views/simulation-view.js';

interface PageRoute {
  readonly view: (context: ViewContext) => View;
  readonly entry?: string;
  /** The view whose entry stands for this one, too. */
  readonly under?: string;
  /** Number of decisions that wait for the operator, beside the entry. */
  readonly waiting?: (status: OverviewValue['status']) => number;
}

const pageRoutes: Readonly<Record<string, PageRoute>> = {
  '': { view: overviewView, entry: 'Overview' },
  peers: { view: peersView, entry: 'Peers' },
  'peers/': { view: peerView, under: 'peers' },
  register: { view: registerView, under: 'peers' },
  players: { view: playerView, entry: 'Players' },
  'players/': { view: playerView, under: 'players' },
  allowed: { view: allowView, entry: 'Allow list' },
  'pre-trust': { view: preTrustView, entry: 'Pre-trust' },
  origins: { view: originsView, entry: 'Origins' },
  disputes: { view: disputesView, entry: 'Disputes', waiting: ({ open_disputes }) => open_disputes },
  erasure: { view: erasureView, entry: 'Erasure', waiting: ({ pending_erasures }) => pending_erasures },
  simulation: { view: simulationView, entry: 'Simulation' },
  audit: { view: auditView, entry: 'Audit' },
  cluster: { view: clusterView, entry: 'Cluster' },
};

const connectionText: Readonly<Record<Connection, string>> = {
  connecting: 'connecting',
  live: 'live',
  lost: 'no answer from the node, trying again',
};

const unknownView: View = {
  title: 'No such page',
  draw: () => html`<p>${link('', 'To the overview')}</p>`,
};

async function start(): Promise<void> {
  const session = await get<SessionValue>('session');
  const live = new Live(refresh, redraw);
  const peers = new Peers();
  let current = unknownView;
  let present = '';
  let isMenuOpen = false;
  /** Number of the opened view: each starts with elements of its own. */
  let opened = 0;

  function refresh(): void {
    current.refresh?.();
    redraw();
  }

  function show(): void {
    const [name = '', ...rest] = location.hash.replace(/^#\/?/, '').split('/');
    const to = rest.length > 0 ? `${name}/` : name;
    const place = Object.hasOwn(pageRoutes, to) ? pageRoutes[to] : undefined;
    current = place?.view({ live, peers, argument: decoded(rest.join('/')) }) ?? unknownView;
    present = place?.under ?? to;
    isMenuOpen = false;
    opened += 1;
    document.title = `${current.title} · ${session.group_id} · Peer Trust`;
    refresh();
  }

  function page(): Child {
    const isLost = live.connection === 'lost';
    document.documentElement.classList.toggle('stale', isLost);
    const entries = Object.entries(pageRoutes).filter(([to]) => to !== 'cluster' || session.clustered);
    const connection = `connection ${live.connection}`;
    return html`
      <div class="frame">
        <header class="top">
          <div class="brand">
            <img src="assets/icon.svg" alt="" width="28" height="28" />
            <div class="brand-text">
              <strong>${session.group_id}</strong><small class=${`environment ${session.environment}`}>${session.environment}</small>
            </div>
            ${health(live)}
          </div>
          <div class="top-end">
            <small class="age muted">${age(live)}</small>
            <span class=${connection} role="status">${connectionText[live.connection]}</span>
            ${session.operator !== null && html`<span class="muted operator">${session.operator}</span>`}
            <form method="post" action="sign-out"><button type="submit" class="button small">Sign out</button></form>
            ${button('Menu', toggleMenu, {
              class: 'button small menu',
              'aria-controls': 'nav',
              'aria-expanded': isMenuOpen,
            })}
          </div>
        </header>
        <nav aria-label="Main" id="nav" class=${isMenuOpen ? 'open' : ''}><ul>
          ${entries.map(
            ([to, { entry, waiting }]) =>
              entry !== undefined &&
              html`<li>
                ${link(to, entry, { 'aria-current': to === present ? 'page' : undefined })}${waitingMark(live, waiting)}
              </li>`,
          )}
        </ul></nav>
        <div class="stage">
          <p class="notice notice-bad stale-notice" role="alert" hidden=${!isLost}>
            ${
              isLost &&
              'The node does not answer. The figures are outdated; the page keeps asking until the node is back.'
            }
          </p>
          <main id="main" tabindex="-1" key=${opened}>${drawnView(current)}</main>
        </div>
      </div>
      ${drawnNotices()}${drawnDialog()}`;
  }

  function toggleMenu(): void {
    isMenuOpen = !isMenuOpen;
    redraw();
  }

  addEventListener('hashchange', () => {
    show();
    scrollTo(0, 0);
    focusHeading();
  });
  document.querySelector('#skip')?.addEventListener('click', (event) => {
    // The address identifies the present view, so that the link must not change it.
    event.preventDefault();
    document.querySelector<HTMLElement>('#main')?.focus();
  });
  show();
  startDrawing(page);
}

function health({ connection, overview }: Live): Child {
  if (connection === 'lost') return badge('no answer', 'untrusted');
  if (overview === null) return html`<span class="badge"></span>`;
  const { ready, writable, reason } = overview.status;
  if (!ready) return badge(reason ?? 'not ready', 'untrusted');
  return writable ? badge('serving', 'active') : badge('reads only', 'suspicious');
}

function waitingMark({ overview }: Live, waiting: PageRoute['waiting']): Child {
  const number = overview === null || waiting === undefined ? 0 : waiting(overview.status);
  return number > 0 && html`<span class="count" title=${`${count(number)} waiting for you`}>${count(number)}</span>`;
}

function age({ overview, ageMs }: Live): Child {
  if (overview === null) return null;
  return html`<time datetime=${overview.at}>updated ${span(Math.round(ageMs / 1000))} ago</time>`;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

start().catch((error: unknown) => notify(errorText(error), 'bad'));
