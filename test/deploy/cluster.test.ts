/** The files of `deploy/cluster/` against the code: variables, ports, metrics, and a configuration that starts. */
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { limits } from '../../src/limits.js';
import { loadConfig } from '../../src/node/config.js';
import { variables } from '../../src/node/variables.js';
import { temporaryFolder } from '../support/process.js';

const urlOf = (path: string) => new URL(`../../../${path}`, import.meta.url);
const fileOf = (path: string) => readFileSync(urlOf(path), 'utf8');
const compose = fileOf('deploy/cluster/compose.yml');
const kubernetes = fileOf('deploy/cluster/kubernetes.yml');
const proxy = fileOf('deploy/cluster/haproxy.cfg');
const dropIn = fileOf('deploy/cluster/ptf-cluster.conf');
const etcdUnit = fileOf('deploy/cluster/ptf-etcd.service');
const rules = fileOf('deploy/cluster/alerts.yml');
const dashboard = fileOf('deploy/cluster/grafana.json');
const gauges = fileOf('src/http/metrics/gauges.ts');

const known = new Set(Object.values(variables).flatMap(({ name }) => [name, `${name}_FILE`]));
/** etcd reads variables of this prefix too; a node has these. */
const ofNode = (name: string) => !name.startsWith('ETCD_') || name === 'ETCD_ENDPOINTS';

/** Variables below a heading of a YAML file, without what YAML merges in. */
function assigned(text: string, heading: RegExp): Record<string, string> {
  const block = heading.exec(text)?.[1] ?? '';
  const lines = Array.from(block.matchAll(/^ +([A-Z]\w*): (.*)$/gm), ([, name, value]) => {
    return [name!, value!.replace(/^"(.*)"$/, '$1')] as const;
  });
  return Object.fromEntries(lines);
}
const ofCompose = assigned(compose, /environment: &node-environment\n((?: {4}.*\n)+)/);
const ofKubernetes = assigned(kubernetes, /^data:\n((?: {2}.*\n)+)/m);

test('the files set variables that the node has', () => {
  for (const set of [ofCompose, ofKubernetes]) {
    assert.ok(Object.keys(set).length >= 8, JSON.stringify(set));
    assert.equal(
      Object.keys(set).filter((name) => !known.has(name)),
      [],
    );
  }
  const named = [...`${compose}${kubernetes}${dropIn}`.matchAll(/\b((?:ETCD|CLUSTER|NODE|ADVERTISE)_[A-Z_]+)\b/g)];
  const odd = named.map(([, name]) => name!).filter((name) => ofNode(name) && !known.has(name));
  assert.equal(odd, []);
});

test('a node of a cluster starts with the configuration that compose and Kubernetes set', () => {
  const secret = 's'.repeat(limits.clusterSecretBytesMin);
  const composed = Object.entries(ofCompose).map(([name, value]) => [name, /:-(.*)\}/.exec(value)?.[1] ?? value]);
  for (const set of [
    { ...Object.fromEntries(composed), GROUP_ID: 'g', NODE_ID: 'node-1', ADVERTISE_URL: 'http://node-1:8080' },
    { ...ofKubernetes, NODE_ID: 'ptf-0', ADVERTISE_URL: 'http://ptf-0.ptf-eu-shooters-nodes:8080' },
  ]) {
    const outcome = loadConfig(set, () => secret);
    assert.ok(outcome.ok, JSON.stringify(outcome));
    if (outcome.ok) assert.is(outcome.config.cluster, 'etcd');
  }
});

test('there are three members and three nodes, each with its own name, address and data', () => {
  for (const place of [1, 2, 3]) {
    assert.match(
      compose,
      `NODE_ID: node-${place}\n      ADVERTISE_URL: http://node-${place}:8080\n    volumes:\n      - node-${place}:/data`,
    );
    assert.match(compose, `ETCD_NAME: etcd-${place}\n`);
    assert.match(proxy, new RegExp(`^ {2}server node-${place} node-${place}:8080$`, 'm'));
  }
  assert.is(kubernetes.match(/^ {2}replicas: 3$/gm)?.length, 2);
});

test('two nodes never share a machine, and one machine at a time is drained', () => {
  assert.is(kubernetes.match(/requiredDuringSchedulingIgnoredDuringExecution/g)?.length, 2);
  assert.is(kubernetes.match(/topologyKey: kubernetes.io\/hostname/g)?.length, 2);
  assert.is(kubernetes.match(/maxUnavailable: 1/g)?.length, 2);
});

test('the proxies send requests to nodes that are ready alone, and no CONNECT', () => {
  assert.match(proxy, 'uri /api/v1/ready');
  assert.match(proxy, /http-request deny .* if METH_CONNECT/);
  assert.match(kubernetes, /readinessProbe:\n +httpGet:\n +path: \/api\/v1\/ready\n/);
  // A restart mends neither an etcd that is gone nor a full disk.
  assert.not.match(kubernetes, /livenessProbe:\n +httpGet:\n +path: \/api\/v1\/ready\n/);
});

test('systemd starts a node of a cluster again however often it ended', () => {
  const [unit, service] = dropIn.split('\n[Service]\n');
  assert.match(unit!, /\n\[Unit\]\n(?:.*\n)*StartLimitIntervalSec=0(?:\n|$)/);
  assert.match(service!, /^RestartSec=\d+$/m);
});

test('a member of etcd that replaces a lost one can be set to join the others', () => {
  assert.match(compose, /ETCD_INITIAL_CLUSTER_STATE: \$\{ETCD_INITIAL_CLUSTER_STATE:-new\}/);
  assert.match(kubernetes, '- name: ETCD_INITIAL_CLUSTER_STATE');
});

test('HAProxy accepts its configuration', () => {
  const { status, error, stderr } = spawnSync(
    'haproxy',
    ['-c', '-f', fileURLToPath(urlOf('deploy/cluster/haproxy.cfg'))],
    { encoding: 'utf8' },
  );
  if (error !== undefined) process.stdout.write('SKIPPED: haproxy is not at hand\n');
  else assert.is(status, 0, stderr);
});

test('HAProxy leaves a node before the node leaves it, and a client after the client', () => {
  const msOf = (setting: RegExp) => Number(setting.exec(proxy)?.[1]) * 1_000;
  assert.ok(msOf(/ pool-purge-delay (\d+)s /) < limits.keepAliveTimeoutMs);
  // The answer of a node tells the client its own time.
  assert.ok(msOf(/ timeout http-keep-alive (\d+)s/) > limits.keepAliveTimeoutMs);
});

test('systemd accepts the member, and the node as the drop-in makes it', () => {
  const dir = temporaryFolder();
  // systemd-analyze reads no drop-ins outside of its own folders, so the drop-in is appended to the unit.
  writeFileSync(join(dir, 'ptf.service'), `${fileOf('deploy/ptf.service')}\n${dropIn}`);
  writeFileSync(join(dir, 'ptf-etcd.service'), etcdUnit);
  for (const name of ['ptf.service', 'ptf-etcd.service']) {
    const { error, stderr } = spawnSync('systemd-analyze', ['verify', join(dir, name)], { encoding: 'utf8' });
    if (error !== undefined) {
      process.stdout.write('SKIPPED: systemd-analyze is not at hand\n');
      return;
    }
    // Neither program need be installed here.
    const faults = stderr.split('\n').filter((line) => line !== '' && !/is not executable: No such file/.test(line));
    assert.equal(faults, [], name);
  }
});

test('every metric in the alerts and on the dashboard is one of a node of a cluster', () => {
  for (const text of [rules, dashboard]) {
    const names = new Set(text.match(/\bptf_cluster_\w+/g));
    assert.ok(names.size >= 7);
    for (const name of names) assert.match(gauges, new RegExp(`\\b${name}\\b`), name);
  }
});

test.run();
