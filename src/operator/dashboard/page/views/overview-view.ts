/** Shows the overview: rates, latencies, verdicts, and the state of the node's parts. */
import type { ListedPeerValue } from '../../../../operations/peer-operations.js';
import type { HistoryValue, OverviewValue } from '../../wire.js';
import { Chart } from '../chart.js';
import { Loaded, refreshesPerPlot, type View, type ViewContext } from '../draw.js';
import { asOf, bytes, compact, count, halfLife, milliseconds, percent, plural, rate, span } from '../format.js';
import { badge, bar, type Child, card, empty, facts, html, link, timeAgo } from '../html.js';
import { groupFactsOf, weightlessReason } from '../remarks.js';
import { get } from '../requests.js';

const verdicts = ['trusted', 'neutral', 'suspicious', 'untrusted'] as const;

export function overviewView({ live, peers }: ViewContext): View {
  const listed = new Loaded(() => peers.list());
  const plots = new Loaded(async () => {
    const { at, events_per_s, reads_per_s, event_ms_p99, read_ms_p99 } = await get<HistoryValue>('history');
    return { rates: [at, events_per_s, reads_per_s], latencies: [at, event_ms_p99, read_ms_p99] };
  });
  let refreshes = 0;

  return {
    title: 'Overview',
    refresh() {
      if (live.overview === null) return;
      void listed.refresh();
      if (refreshes++ % refreshesPerPlot === 0) void plots.refresh();
    },
    draw() {
      const { overview } = live;
      const traffic = plots.draw(({ rates: data }) =>
        preact.h(Chart, {
          title: 'Events and reads per second over the last hour',
          format: rate,
          labels: ['events/s', 'reads/s'],
          data,
        }),
      );
      const latency = plots.draw(({ latencies: data }) =>
        preact.h(Chart, {
          title: '99th percentile latency of events and reads, in milliseconds, over the last hour',
          format: milliseconds,
          emptyText: 'No requests in the last hour.',
          labels: ['events p99', 'reads p99'],
          data,
        }),
      );
      const connecting = html`<p class="muted">Connecting…</p>`;
      return html`
        ${card('Needs attention', overview === null ? connecting : listed.draw((all) => attentionOf(overview, all, live.connection === 'lost')))}
        <div class="tiles">${overview !== null && tilesOf(overview)}</div>
        <div class="grid">
          ${card('Traffic', traffic)}
          ${card('Latency', latency)}
          <div class="column">
            ${card('Verdicts', distributionOf(overview))}
            ${card('Group', overview === null ? connecting : groupOf(overview))}
          </div>
          ${card('Node', overview === null ? connecting : stateOf(overview))}
        </div>`;
    },
  };
}

function tilesOf({ events_per_s, reads_per_s, event_ms_p99, read_ms_p99, status }: OverviewValue): Child {
  const p99 = (value: number | null): string => (value === null ? 'none recently' : `p99 ${milliseconds(value)}`);
  const tiles = [
    ['Events per second', rate(events_per_s), p99(event_ms_p99)],
    ['Reads per second', rate(reads_per_s), p99(read_ms_p99)],
    ['Players', compact(status.counts.players), 'with events'],
    ['Events', compact(status.counts.events), 'ever accepted'],
    ['Peers', count(status.counts.peers), `${count(status.pre_trusted.length)} pre-trusted`],
  ];
  return tiles.map(
    ([name, value, note]) => html`<div class="tile">
      <span class="tile-name">${name}</span><strong>${value}</strong><small class="muted">${note}</small>
    </div>`,
  );
}

function distributionOf(overview: OverviewValue | null): Child {
  const value = overview?.verdicts ?? null;
  const players = overview?.status.counts.players;
  if (players === 0) return empty('No players yet', 'Verdicts appear with the first events.');
  if (players === undefined || value === null) return html`<p class="muted">Counting…</p>`;
  if (value.sampled === 0) {
    const waiting = `${plural(players, 'player')} in the group; their verdicts are counted within a minute.`;
    return empty('No player looked up yet', waiting);
  }
  const isSample = value.sampled < value.players;
  return html`<div>
    <div class="stack" aria-hidden="true">
      ${verdicts.map((verdict) => bar(value[verdict] / value.sampled, verdict, { flexGrow: value[verdict] }))}
    </div>
    <table class="plain">
      <caption class="hidden">Players by verdict</caption>
      <tbody>${verdicts.map(
        (verdict) => html`<tr>
          <th scope="row"><span class=${`swatch ${verdict}`}></span>${verdict}</th>
          <td class="number">${count(value[verdict])}</td>
          <td class="number">${percent(value[verdict], value.sampled)}</td>
        </tr>`,
      )}</tbody>
    </table>
    <p class="muted small">${
      isSample
        ? `A sample of ${count(value.sampled)} of ${count(value.players)} players.`
        : `All ${plural(value.players, 'player')}.`
    }</p>
  </div>`;
}

function stateOf({ status, uptime_s }: OverviewValue): Child {
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
        : html`<span>computed ${timeAgo(weights.computed_at)}, ${behind(weights.based_on_seq)}</span>`,
    ],
    ['Disk', diskOf(status)],
    ['Checks', checksOf(status)],
    ['Version', `${status.version}, up ${span(uptime_s)}`],
  ]);
}

function groupOf({ status }: OverviewValue): Child {
  const { half_life_days, ban_half_life_days, pending_erasures, open_disputes } = status;
  return facts([
    ['Half-life', halfLife(half_life_days)],
    ['Half-life of bans', halfLife(ban_half_life_days)],
    ['Identity', status.identity_mode],
    ['Evidence', status.sends_reports_only ? reportsOnly : undefined],
    ['Erasures waiting', pending_erasures === 0 ? 'none' : link('erasure', plural(pending_erasures, 'request'))],
    ['Open disputes', open_disputes === 0 ? 'none' : link('disputes', plural(open_disputes, 'dispute'))],
  ]);
}

const reportsOnly = [
  badge('reports only', 'suspicious'),
  ' no ban, and nothing that raises trust, in 30 days: reports alone condemn nobody in a small group',
];

type Status = OverviewValue['status'];

function diskOf({ disk, reason }: Status): Child {
  if (disk === null) return 'cannot be read';
  const text = `${bytes(disk.free)} free, the store takes ${bytes(disk.log + disk.snapshots)}`;
  return reason === 'disk_low' ? [badge('reads only', 'suspicious'), ` ${text}`] : text;
}

function checksOf({ check }: Status): Child {
  if (check.faults.length > 0) return badge(plural(check.faults.length, 'fault'), 'untrusted');
  return check.ended_at === null ? 'not ended yet' : html`<span>whole, ${timeAgo(check.ended_at)}</span>`;
}

const namedMax = 5;

function attentionOf(
  { at, status, ids_refused }: OverviewValue,
  peers: readonly ListedPeerValue[],
  isLost: boolean,
): Child {
  const { ready, writable, reason, alerts, pending_erasures, open_disputes } = status;
  const group = groupFactsOf(peers);
  const weightless = peers.flatMap((peer) => {
    const why = weightlessReason(peer, group);
    return why === undefined ? [] : [{ peer, why }];
  });
  const items: Child[] = [
    isLost && bad(`The node does not answer. All else is as of ${asOf(at)}.`),
    !ready && bad(`The node is not ready: ${reason ?? 'no reason is known'}.`),
    ready && !writable && bad(`Writes are refused: ${reason ?? 'no reason is known'}.`),
    // The lines above say it with the reason.
    ...alerts.filter(({ alert }) => alert !== 'PtfNotReady').map(({ alert, text }) => bad(`${alert}: ${text}`)),
    pending_erasures > 0 && html`${link('erasure', plural(pending_erasures, 'erasure'))} to confirm or refuse`,
    open_disputes > 0 && html`${link('disputes', plural(open_disputes, 'dispute'))} to decide`,
    ...weightless
      .slice(0, namedMax)
      .map(
        ({ peer, why }) =>
          html`${link(`peers/${encodeURIComponent(peer.peer_id)}`, peer.peer_name)} has weight 0: ${why}`,
      ),
    weightless.length > namedMax && link('peers', `${plural(weightless.length - namedMax, 'more peer')} with weight 0`),
    ids_refused > 0 &&
      `${plural(ids_refused, 'request')} refused for forbidden characters in an id or a name since the start of the node`,
  ].filter((item) => item !== false);
  if (items.length === 0)
    return html`<p class="muted">Nothing. No decision waits, and every peer that reports has weight.</p>`;
  return html`<ul class="attention">${items.map((item) => html`<li>${item}</li>`)}</ul>`;
}

function bad(text: string): Child {
  return html`<span class="bad">${text}</span>`;
}
