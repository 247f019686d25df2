/**
 * The files of `deploy/` against the code: variables that exist, ports and paths that are served, and a configuration
 * that starts.
 */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { routes } from '../../src/contract/routes.js';
import { errors } from '../../src/errors.js';
import { limits } from '../../src/limits.js';
import { assignedBelow, code, composed, configOf, fileOf, setsKnown, unitFaults, urlOf } from './deploy-files.js';

const dockerfile = fileOf('deploy/Dockerfile');
const compose = fileOf('deploy/compose.yml');
const kubernetes = fileOf('deploy/kubernetes.yml');
const unit = fileOf('deploy/ptf.service');
const nginx = fileOf('deploy/nginx.conf');
const caddy = fileOf('deploy/Caddyfile');

/** Assignments `NAME=value`, separated by blanks. */
const assignedIn = (text = '') =>
  Object.fromEntries(Array.from(text.matchAll(/(\w+)=(\S+)/g), ([, name, value]) => [name!, value!]));
const image = assignedIn(/^ENV (.*)$/m.exec(dockerfile)?.[1]);
const ofCompose = assignedBelow(compose, /environment:\n((?: {6}.*\n)+)/);
const ofKubernetes = assignedBelow(kubernetes, /^data:\n((?: {2}.*\n)+)/m);
const ofUnit = assignedIn(Array.from(unit.matchAll(/^Environment=(.*)$/gm), ([, line]) => line).join(' '));

test('the files set variables that the node has', () => {
  for (const [file, set] of Object.entries({ image, ofCompose, ofKubernetes, ofUnit })) setsKnown(file, set, 3);
});

test('a production node starts with the configuration that image and manifests set together', () => {
  const salt = 's'.repeat(limits.saltBytesMin);
  // The name of the group is the operator's.
  for (const set of [
    { ...image, ...composed(ofCompose), GROUP_ID: 'g' },
    { ...image, ...ofKubernetes },
  ]) {
    const { config, warnings } = configOf(set, salt);
    assert.ok(config.production && config.salt === salt);
    // Below the mounted volume, which may belong to root.
    assert.ok(config.dataDir.startsWith('/data/'));
    assert.equal(warnings, []);
  }
});

test('probes ask for a path that is served without a key, on the port that is listened on', () => {
  const paths = Array.from(kubernetes.matchAll(/^ +path: (\S+)$/gm), ([, path]) => path!);
  assert.is(paths.length, 3);
  const [check] = /\/api\/v1\/[^`]*/.exec(/^ {2}CMD \["node", "-e", .*$/m.exec(dockerfile)?.[0] ?? '') ?? [];
  for (const path of [...paths, check!]) {
    const route = Object.values(routes).find((one) => one.method === 'GET' && one.path === path.split('?')[0]);
    assert.ok(route !== undefined && route.auth !== 'required', path);
  }
  for (const [name, port] of [
    ['http', image.PORT],
    ['metrics', image.METRICS_PORT],
  ]) {
    assert.match(kubernetes, new RegExp(`- name: ${name}\\n +containerPort: ${port}\\n`));
    assert.match(dockerfile, new RegExp(`^EXPOSE.*\\b${port}\\b`, 'm'));
    assert.match(compose, new RegExp(`- 127\\.0\\.0\\.1:${port}:${port}\\n`));
  }
});

test('a service manager waits longer than a stopping node may take', () => {
  for (const [text, pattern] of [
    [compose, /stop_grace_period: (\d+)s/],
    [fileOf('deploy/cluster/compose.yml'), /stop_grace_period: (\d+)s/],
    [kubernetes, /terminationGracePeriodSeconds: (\d+)/],
    [fileOf('deploy/cluster/kubernetes.yml'), /terminationGracePeriodSeconds: (\d+)/],
    [unit, /^TimeoutStopSec=(\d+)$/m],
  ] as const) {
    assert.ok(Number(pattern.exec(text)?.[1]) * 1000 > limits.shutdownMs, String(pattern));
  }
  assert.match(unit, /^RestartPreventExitStatus=2$/m);
});

test('a node comes back after a crash and after a reboot of its host', () => {
  // Docker starts a container with `on-failure` again after a crash, and not after a reboot.
  assert.match(compose, /^ {4}restart: unless-stopped$/m);
  assert.match(unit, /^Restart=on-failure$/m);
  assert.match(unit, /^WantedBy=multi-user\.target$/m);
  assert.match(kubernetes, /^kind: StatefulSet$/m);
  assert.not.match(kubernetes, /restartPolicy/);
});

test('systemd accepts the unit', () => assert.equal(unitFaults(fileURLToPath(urlOf('deploy/ptf.service'))), []));

test('unit and image start the node without the memory reducer, by a flag that Node has', () => {
  const commands = [
    /^ExecStart=\S+ (\S+) \S+\/dist\/main\.js$/m.exec(unit),
    /^CMD \["node", "(\S+)", "dist\/main\.js"\]$/m.exec(dockerfile),
  ];
  for (const command of commands) {
    assert.is(command?.[1], '--no-memory-reducer');
    assert.is(spawnSync(process.execPath, [command![1]!, '-e', '']).status, 0);
  }
});

test('nothing runs as root, and nothing but the data is written', () => {
  assert.match(dockerfile, /^USER node$/m);
  assert.match(compose, /^ {4}read_only: true$/m);
  const privileges = ['runAsNonRoot: true', 'allowPrivilegeEscalation: false', 'drop: [ALL]'];
  for (const line of [...privileges, 'readOnlyRootFilesystem: true']) assert.ok(kubernetes.includes(line), line);
  for (const line of ['User=ptf', 'NoNewPrivileges=yes', 'ProtectSystem=strict', 'CapabilityBoundingSet=']) {
    assert.match(unit, new RegExp(`^${line}$`, 'm'));
  }
});

test('the proxies pass all requests that the node accepts, and close its connections first', () => {
  assert.ok(Number(/client_max_body_size (\d+)k/.exec(nginx)?.[1]) * 1024 > limits.batchBodyBytes);
  // Caddy 2.6 answers a body over its own limit with 502, which a client repeats.
  assert.not.match(code(caddy), 'request_body');
  assert.ok(Number(/large_client_header_buffers \d+ (\d+)k/.exec(nginx)?.[1]) * 1024 > limits.headBytes);
  for (const [, seconds] of [
    ...nginx.matchAll(/^ {2}keepalive_timeout (\d+)s/gm),
    ...caddy.matchAll(/keepalive (\d+)s/g),
  ]) {
    assert.ok(Number(seconds) * 1000 < limits.keepAliveTimeoutMs);
  }
});

test('nginx answers a body and a path that it refuses itself as the node would', () => {
  for (const code of ['payload_too_large', 'route_not_found', 'rate_limited'] as const) {
    const { status } = errors[code];
    const [, body] = new RegExp(`return ${status} '(.*)';`).exec(nginx) ?? [];
    assert.is(JSON.parse(body ?? '{}').code, code);
  }
  assert.match(nginx, /error_page 413 @large;/);
});

test('the proxies pass on every path that the node serves', () => {
  const passed = [...nginx.matchAll(/^ {2}location (=|~) (\S+) \{\n(?: {4}.*\n)*? {4}proxy_pass /gm)].map(
    ([, kind, path]) => new RegExp(kind === '=' ? `^${path}$` : path!),
  );
  const [, globs = ''] = /@api path (.*)/.exec(caddy) ?? [];
  const caddyPaths = globs.split(' ').map((glob) => new RegExp(`^${glob.replace('*', '.*')}$`));
  for (const patterns of [passed, caddyPaths]) {
    const refused = Object.values(routes).filter(({ path }) => !patterns.some((pattern) => pattern.test(path)));
    assert.equal(refused, []);
  }
});

test('.dockerignore admits all files from which the image is built', () => {
  const included = Array.from(fileOf('.dockerignore').matchAll(/^!(\S+)$/gm), ([, path]) => path!);
  for (const path of included) if (!path.includes('*')) assert.ok(existsSync(urlOf(path)), path);
  for (const path of ['package.json', 'package-lock.json', 'LICENSE', 'CHANGELOG.md', 'bin', 'src', 'scripts']) {
    assert.ok(included.includes(path), path);
  }
});

test.run();
