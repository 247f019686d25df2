/** The files of `deploy/cluster/` against the code: variables, ports, metrics, and a configuration that starts. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { limits } from '../../src/limits.js';
import { temporaryFolder } from '../support/process.js';
import { acceptedBy, assignedBelow, composed, configOf, fileOf, known, setsKnown, unitFaults } from './deploy-files.js';

const compose = fileOf('deploy/cluster/compose.yml');
const kubernetes = fileOf('deploy/cluster/kubernetes.yml');
const proxy = fileOf('deploy/cluster/haproxy.cfg');
const dropIn = fileOf('deploy/cluster/ptf-cluster.conf');
const etcdUnit = fileOf('deploy/cluster/ptf-etcd.service');
const rules = fileOf('deploy/cluster/alerts.yml');
const dashboard = fileOf('deploy/cluster/grafana.json');
const gauges = fileOf('src/http/metrics/gauges.ts');

/** etcd reads variables of this prefix too; a node has these. */
const ofNode = (name: string) => !name.startsWith('ETCD_') || name === 'ETCD_ENDPOINTS';

const ofCompose = assignedBelow(compose, /environment: &node-environment\n((?: {4}.*\n)+)/);
const ofKubernetes = assignedBelow(kubernetes, /^data:\n((?: {2}.*\n)+)/m);

test('the files set variables that the node has', () => {
  for (const [file, set] of Object.entries({ ofCompose, ofKubernetes })) setsKnown(file, set, 8);
  const named = [...`${compose}${kubernetes}${dropIn}`.matchAll(/\b((?:ETCD|CLUSTER|NODE|ADVERTISE)_[A-Z_]+)\b/g)];
  const odd = named.map(([, name]) => name!).filter((name) => ofNode(name) && !known.has(name));
  assert.equal(odd, []);
});

test('a node of a cluster starts with the configuration that compose and Kubernetes set', () => {
  const secret = 's'.repeat(limits.clusterSecretBytesMin);
  for (const set of [
    { ...composed(ofCompose), GROUP_ID: 'g', NODE_ID: 'node-1', ADVERTISE_URL: 'http://node-1:8080' },
    { ...ofKubernetes, NODE_ID: 'ptf-0', ADVERTISE_URL: 'http://ptf-0.ptf-eu-shooters-nodes:8080' },
  ]) {
    assert.is(configOf(set, secret).config.cluster, 'etcd');
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

test('HAProxy accepts its configuration', () => acceptedBy('haproxy', '-c', '-f', 'deploy/cluster/haproxy.cfg'));

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
  for (const name of ['ptf.service', 'ptf-etcd.service']) assert.equal(unitFaults(join(dir, name)), [], name);
});

test('every metric in the alerts and on the dashboard is one of a node of a cluster', () => {
  for (const text of [rules, dashboard]) {
    const names = new Set(text.match(/\bptf_cluster_\w+/g));
    assert.ok(names.size >= 7);
    for (const name of names) assert.match(gauges, new RegExp(`\\b${name}\\b`), name);
  }
});

test.run();
