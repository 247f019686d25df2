/** Shows the overview: rates, latencies, verdicts, and the state of the node's parts. */
import type { HistoryValue, OverviewValue } from '../../wire.js';
import { get } from '../api.js';
import { lineChart } from '../chart.js';
import { type Child, card, empty, facts, fill, h } from '../dom.js';
import { bytes, compact, count, milliseconds, percent, plural, rate, span } from '../format.js';
import { notify } from '../notice.js';
import { bar, heading, link, timeAgo, type View, type ViewContext } from '../view.js';

/** Number of beats in a plot: an hour. */
const samplesMax = 1_800;
const verdicts = ['trusted', 'neutral', 'suspicious', 'untrusted'] as const;

export function overviewView({ live }: ViewContext): View {
  const tiles = h('div', { class: 'tiles' });
  const distribution = h('div', {}, h('p', { class: 'muted' }, 'Counting…'));
  const state = h('div', {}, h('p', { class: 'muted' }, 'Connecting…'));
  const group = h('div', {}, h('p', { class: 'muted' }, 'Connecting…'));
  const traffic = lineChart({
    title: 'Events and reads per second over the last hour',
    format: rate,
    lines: [
      { label: 'events/s', color: '--series-a' },
      { label: 'reads/s', color: '--series-b' },
    ],
  });
  const latency = lineChart({
    title: '99th percentile latency of events and reads, in milliseconds, over the last hour',
    format: milliseconds,
    emptyText: 'No requests in the last hour.',
    lines: [
      { label: 'events p99', color: '--series-a' },
      { label: 'reads p99', color: '--series-b' },
    ],
  });
  const paces: (number | null)[][] = [[], [], [], [], []];

  function push(...values: readonly (number | null)[]): void {
    for (const [i, column] of paces.entries()) {
      column.push(values[i] ?? null);
      if (column.length > samplesMax) column.shift();
    }
  }

  function plot(): void {
    const [at = [], events = [], reads = [], eventMs = [], readMs = []] = paces;
    traffic.show([at, events, reads]);
    latency.show([at, eventMs, readMs]);
  }

  function show(overview: OverviewValue): void {
    const at = Date.parse(overview.at) / 1000;
    if (at > (paces[0]?.at(-1) ?? 0)) {
      push(at, overview.events_per_s, overview.reads_per_s, overview.event_ms_p99, overview.read_ms_p99);
      plot();
    }
    fill(tiles, tilesOf(overview));
    fill(distribution, distributionOf(overview));
    fill(group, groupOf(overview));
    fill(state, stateOf(overview));
  }

  get<HistoryValue>('history').then(
    (history) => {
      const newer = paces.map((column) => column.filter((_, i) => (paces[0]?.[i] ?? 0) > (history.at.at(-1) ?? 0)));
      for (const column of paces) column.length = 0;
      for (const [i, second] of history.at.entries()) {
        push(
          second,
          at(history.events_per_s, i),
          at(history.reads_per_s, i),
          at(history.event_ms_p99, i),
          at(history.read_ms_p99, i),
        );
      }
      for (const i of (newer[0] ?? []).keys()) push(...newer.map((column) => column[i] ?? null));
      plot();
    },
    (error: unknown) => notify(`The history of the plots is not available: ${String(error)}`, 'bad'),
  );
  const leave = live.subscribe(show);

  const element = h(
    'div',
    {},
    heading('Overview'),
    tiles,
    h(
      'div',
      { class: 'grid' },
      card('Traffic', traffic.element),
      card('Latency', latency.element),
      h('div', { class: 'column' }, card('Verdicts', distribution), card('Group', group)),
      card('Node', state),
    ),
  );
  return {
    title: 'Overview',
    element,
    destroy() {
      leave();
      traffic.destroy();
      latency.destroy();
    },
  };
}

function at(column: readonly (number | null)[], i: number): number | null {
  return column[i] ?? null;
}

function tilesOf({ events_per_s, reads_per_s, event_ms_p99, read_ms_p99, status }: OverviewValue): HTMLElement[] {
  const tile = (name: string, value: string, note: string): HTMLElement =>
    h(
      'div',
      { class: 'tile' },
      h('span', { class: 'tile-name' }, name),
      h('strong', {}, value),
      h('small', { class: 'muted' }, note),
    );
  const latency = (p99: number | null): string => (p99 === null ? 'none recently' : `p99 ${milliseconds(p99)}`);
  return [
    tile('Events per second', rate(events_per_s), latency(event_ms_p99)),
    tile('Reads per second', rate(reads_per_s), latency(read_ms_p99)),
    tile('Players', compact(status.counts.players), 'with events'),
    tile('Events', compact(status.counts.events), 'ever accepted'),
    tile('Peers', count(status.counts.peers), `${count(status.pre_trusted.length)} pre-trusted`),
  ];
}

function distributionOf({ status, verdicts: value }: OverviewValue): HTMLElement[] {
  if (status.counts.players === 0) return [empty('No players yet', 'Verdicts appear with the first events.')];
  if (value?.sampled === 0) {
    return [
      empty(
        'No player looked up yet',
        `${plural(status.counts.players, 'player')} in the group; their verdicts are counted within a minute.`,
      ),
    ];
  }
  if (value === null) return [h('p', { class: 'muted' }, 'Counting…')];
  const stack = h(
    'div',
    { class: 'stack', 'aria-hidden': 'true' },
    verdicts.map((verdict) => bar(value[verdict] / value.sampled, verdict)),
  );
  for (const [i, verdict] of verdicts.entries()) {
    const part = stack.children[i];
    if (part instanceof HTMLElement) part.style.setProperty('flex-grow', String(value[verdict]));
  }
  const rows = verdicts.map((verdict) =>
    h(
      'tr',
      {},
      h('th', { scope: 'row' }, h('span', { class: `swatch ${verdict}` }), verdict),
      h('td', { class: 'number' }, count(value[verdict])),
      h('td', { class: 'number' }, percent(value[verdict], value.sampled)),
    ),
  );
  const caption = h('caption', { class: 'hidden' }, 'Players by verdict');
  const isSample = value.sampled < value.players;
  return [
    stack,
    h('table', { class: 'plain' }, caption, h('tbody', {}, rows)),
    h(
      'p',
      { class: 'muted small' },
      isSample
        ? `A sample of ${count(value.sampled)} of ${count(value.players)} players.`
        : `All ${plural(value.players, 'player')}.`,
    ),
  ];
}

function stateOf({ status, uptime_s }: OverviewValue): HTMLElement {
  const { weights, snapshots, mailbox } = status;
  const newest = Math.max(0, ...snapshots);
  const behind = (seq: number): string => {
    const records = status.last_seq - seq;
    return records <= 0 ? 'up to date' : `${plural(records, 'record')} behind`;
  };
  return facts([
    ['Log', `record ${count(status.last_seq)}`],
    ['Mailbox', mailbox.events === 0 ? 'empty' : `${plural(mailbox.events, 'event')} waiting`],
    ['Snapshot', newest === 0 ? 'none yet' : `record ${count(newest)}, ${behind(newest)}`],
    [
      'Weights',
      weights.computed_at === null
        ? 'not computed yet'
        : h('span', {}, 'computed ', timeAgo(weights.computed_at), `, ${behind(weights.based_on_seq)}`),
    ],
    ['Disk', diskOf(status)],
    ['Checks', checksOf(status)],
    ['Version', `${status.version}, up ${span(uptime_s)}`],
  ]);
}

function groupOf({ status }: OverviewValue): HTMLElement {
  return facts([
    ['Half-life', status.half_life_days === 0 ? 'off' : plural(status.half_life_days, 'day')],
    ['Half-life of bans', status.ban_half_life_days === 0 ? 'off' : plural(status.ban_half_life_days, 'day')],
    ['Identity', status.identity_mode],
    ...(status.sends_reports_only ? [['Evidence', reportsOnly()] as const] : []),
    [
      'Erasures waiting',
      status.pending_erasures === 0 ? 'none' : link('erasure', plural(status.pending_erasures, 'request')),
    ],
    ['Open disputes', status.open_disputes === 0 ? 'none' : link('disputes', plural(status.open_disputes, 'dispute'))],
  ]);
}

function reportsOnly(): Child {
  const text = ' no ban, and nothing that raises trust, in 30 days: reports alone condemn nobody in a small group';
  return [h('span', { class: 'badge suspicious' }, 'reports only'), text];
}

type Status = OverviewValue['status'];

function diskOf({ disk, reason }: Status): Child {
  if (disk === null) return 'cannot be read';
  const text = `${bytes(disk.free)} free, the store takes ${bytes(disk.log + disk.snapshots)}`;
  return reason === 'disk_low' ? [h('span', { class: 'badge suspicious' }, 'reads only'), ` ${text}`] : text;
}

function checksOf({ check }: Status): Child {
  if (check.faults.length > 0) return h('span', { class: 'badge untrusted' }, plural(check.faults.length, 'fault'));
  return check.ended_at === null ? 'not ended yet' : h('span', {}, 'whole, ', timeAgo(check.ended_at));
}
