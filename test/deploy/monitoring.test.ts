/**
 * The dashboard and the alerts for Prometheus against the metrics of a real node: what they name exists, labels too.
 */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { ask } from '../http/exchange.js';
import { registerPeer } from '../http/peer-client.js';
import { eventBody } from '../http/samples.js';
import { anchorsOf } from '../support/markdown.js';
import { startTestNode, type TestNode, weightsSettled } from '../support/node.js';
import { acceptedBy, fileOf } from './deploy-files.js';

const watching = fileOf('docs/operating/watch.md');

interface Dashboard {
  readonly panels: readonly {
    readonly id: number;
    readonly title: string;
    readonly fieldConfig?: { readonly overrides: readonly { readonly matcher: { readonly options: string } }[] };
    readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
    readonly targets?: readonly { readonly expr: string; readonly legendFormat: string }[];
  }[];
}
const dashboardOf = (path: string) => JSON.parse(fileOf(path)) as Dashboard;
const { panels } = dashboardOf('deploy/grafana.json');
const panelsOfCluster = dashboardOf('deploy/cluster/grafana.json').panels;

/** One rule with its lines; the form that the file keeps to. */
interface Rule {
  readonly name: string;
  readonly expr: string;
  readonly text: string;
}
const rulesIn = (path: string): readonly Rule[] =>
  fileOf(path)
    .split(/^ {6}- alert: /m)
    .slice(1)
    .map((text) => ({
      name: text.slice(0, text.indexOf('\n')),
      expr: /^ {8}expr: ([\s\S]*?)^ {8}\w/m.exec(text)?.[1] ?? '',
      text,
    }));
const alerts = rulesIn('deploy/alerts.yml');

let node: TestNode;
let exposed = '';
/** Labels by the name of a metric, as samples have them. */
const labels = new Map<string, Set<string>>();

test.before(async () => {
  node = await startTestNode({ METRICS_PORT: '0', WEIGHTS_INTERVAL_MS: '50' });
  await live();
  // A process this short may end without a collection, and what was never observed has no samples.
  setFlagsFromString('--expose-gc');
  runInNewContext('gc')();
  exposed = await (await fetch(`${node.metricsUrl}/metrics`)).text();
  for (const line of exposed.split('\n')) {
    const [, name, inner = ''] = /^(\w+)(?:\{(.*)\})? \S+$/.exec(line) ?? [];
    if (name === undefined) continue;
    const known = labels.get(name) ?? new Set<string>();
    for (const [, label] of inner.matchAll(/(\w+)="/g)) known.add(label!);
    labels.set(name, known);
  }
});
test.after(() => node.close());

/** A little of everything that is counted: an event, a read, a refusal, a computation of weights, a snapshot. */
async function live(): Promise<void> {
  const { peerId, key, submit } = await registerPeer(node.url);
  assert.is((await submit({ player_id: 'p' })).status, 201);
  const json = eventBody({ peer_id: peerId });
  assert.is((await ask(node.url, '/api/v1/events', { key: `${key}x`, json })).status, 401);
  assert.is((await ask(node.url, '/api/v1/players/p/verdict')).status, 200);
  await weightsSettled(node);
}

const names = /\b(?:ptf|nodejs|process)_\w+/g;
/** Names in words that are none of Prometheus' functions and keywords, used as labels. */
const usedLabels = /(?:by|on|ignoring|without) \(([^)]*)\)|\{([^}]*)\}/g;

function faultsOf(expr: string, where: string): string[] {
  const found = [...new Set(expr.match(names) ?? [])];
  if (found.length === 0 && !/\bup\{/.test(expr)) return [`${where}: names no metric`];
  const missing = found.filter((name) => !labels.has(name)).map((name) => `${where}: ${name} is no metric of a node`);
  const known = new Set(['job', 'instance', 'le', ...found.flatMap((name) => [...(labels.get(name) ?? [])])]);
  const used = [...expr.matchAll(usedLabels)].flatMap(([, list, matchers]) => {
    if (list !== undefined) return list.split(',').map((label) => label.trim());
    return Array.from(matchers!.replaceAll(/"[^"]*"/g, '').matchAll(/(\w+)\s*[=!]/g), ([, label]) => label!);
  });
  const odd = used
    .filter((label) => !known.has(label))
    .map((label) => `${where}: ${found.join(', ')} has no label ${label}`);
  return [...missing, ...odd];
}

test('every metric and label on the dashboard exists in a node', () => {
  const targets = panels.flatMap(({ title, targets: all = [] }) => all.map((target) => ({ title, ...target })));
  assert.ok(targets.length > 40);
  assert.equal(
    targets.flatMap(({ title, expr }) => faultsOf(expr, title)),
    [],
  );
  for (const { title, expr, legendFormat } of targets) {
    for (const [, label] of legendFormat.matchAll(/\{\{(\w+)\}\}/g)) {
      const own = (expr.match(names) ?? []).flatMap((name) => [...(labels.get(name) ?? [])]);
      assert.ok([...own, 'le'].includes(label!), `${title}: the legend's ${label}`);
    }
  }
});

test('panels have numbers of their own and lie beside each other, not upon each other', () => {
  for (const one of [panels, panelsOfCluster]) {
    assert.is(new Set(one.map(({ id }) => id)).size, one.length);
    const taken = new Map<string, string>();
    for (const { title, gridPos: at } of one) {
      assert.ok(at.x + at.w <= 24, title);
      for (let x = at.x; x < at.x + at.w; x++) {
        for (let y = at.y; y < at.y + at.h; y++) {
          assert.not(taken.has(`${x} ${y}`), `${title} lies upon ${taken.get(`${x} ${y}`)}`);
          taken.set(`${x} ${y}`, title);
        }
      }
    }
  }
});

test('no chart draws bytes on the axis of another unit', () => {
  const mixed = [...panels, ...panelsOfCluster].filter(({ targets = [], fieldConfig }) => {
    const apart = fieldConfig?.overrides.map(({ matcher }) => matcher.options) ?? [];
    const onOne = targets.filter(({ legendFormat }) => !apart.includes(legendFormat));
    const bytes = onOne.filter(({ expr }) => /_bytes(?:_total)?\b/.test(expr));
    return bytes.length > 0 && bytes.length < onOne.length;
  });
  assert.equal(
    mixed.map(({ title }) => title),
    [],
  );
});

test('every metric and label in the alerts exists in a node', () => {
  assert.ok(alerts.length > 20);
  assert.equal(
    alerts.flatMap(({ name, expr }) => faultsOf(expr, name)),
    [],
  );
});

test('an alert on recent counts includes the first count of a new series', () => {
  // `increase` takes the first sample of a series for where it starts, not for what was added.
  const counting = alerts.filter(({ expr }) => expr.includes('increase('));
  assert.ok(counting.length >= 4);
  for (const { name, expr } of counting) {
    const [, counter, span] = /increase\((ptf_\w+\{[^}]*\})\[(\w+)\]\)/.exec(expr) ?? [];
    assert.ok(expr.replaceAll(/\s+/g, ' ').includes(`(${counter} unless ${counter} offset ${span})`), name);
  }
});

test('weights that nothing calls for yet are not stale', async () => {
  // No weights are computed before the first event, while each registration is a record.
  await using fresh = await startTestNode({ METRICS_PORT: '0' });
  await registerPeer(fresh.url);
  const text = await (await fetch(`${fresh.metricsUrl}/metrics`)).text();
  const figure = (name: string) => Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1]);
  assert.ok(figure('ptf_weights_based_on_seq') < figure('ptf_log_last_seq'));
  assert.is(figure('ptf_events'), 0);
  assert.match(alerts.find(({ name }) => name === 'PtfWeightsStale')!.expr, / and ptf_events > 0$/m);
});

test('promtool accepts the rules', () =>
  acceptedBy('promtool', 'check', 'rules', 'deploy/alerts.yml', 'deploy/cluster/alerts.yml'));

test('alerts fire upon the series of a fault, and stay quiet upon those of a group that is well', () =>
  acceptedBy(
    'promtool',
    'test',
    'rules',
    'test/deploy/alerts.promtool.yml',
    'test/deploy/alerts-of-days.promtool.yml',
  ));

for (const [path, rules] of [
  ['docs/operating/watch.md', alerts],
  ['docs/operating/cluster.md', rulesIn('deploy/cluster/alerts.yml')],
] as const) {
  test(`every alert links to its runbook in ${path}, and every runbook belongs to an alert`, () => {
    const page = fileOf(path);
    const anchors = anchorsOf(page);
    for (const { name, text } of rules) {
      const link = /runbook_url: (\S+)/.exec(text)?.[1];
      assert.is(link, `${path}#alert-${name.toLowerCase()}`);
      assert.ok(anchors.has(link!.split('#')[1]!), `${name} has no heading`);
      assert.match(text, /severity: (?:page|ticket)\b/, name);
    }
    assert.equal(
      Array.from(page.matchAll(/^### Alert (\w+)$/gm), ([, name]) => name),
      rules.map(({ name }) => name),
    );
  });
}

test('the table of operating/watch.md has every metric of a node, and no other', () => {
  const [, after = ''] = watching.split('\n## Metrics\n');
  const table = after.split('\n## ')[0]!;
  const rows = table.split('\n').filter((line) => line.startsWith('| `'));
  const inTable = new Set(rows.flatMap((line) => (line.split('|')[1] ?? '').match(/\bptf_\w+/g) ?? []));
  const families = Array.from(exposed.matchAll(/^# TYPE (ptf_\w+) /gm), ([, name]) => name!);
  assert.equal([...inTable].sort(), families.sort());
});

test('the checks above detect their faults', () => {
  assert.equal(faultsOf('ptf_nothing > 0', 'a'), ['a: ptf_nothing is no metric of a node']);
  assert.equal(faultsOf('sum by (peer) (ptf_peer_weight)', 'a'), ['a: ptf_peer_weight has no label peer']);
  assert.equal(faultsOf('ptf_http_requests_total{state="500"}', 'a'), [
    'a: ptf_http_requests_total has no label state',
  ]);
  assert.equal(faultsOf('rate(ptf_commit_duration_seconds_bucket{job=~"$job"}[5m])', 'a'), []);
  assert.equal(faultsOf('1 > 0', 'a'), ['a: names no metric']);
});

test.run();
