/** A node over a member of etcd that demands TLS, a client certificate and a user. */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { Child } from '../../bench/child.js';
import { noEtcd } from '../../bench/cluster/etcd-members.js';
import { nodeVariables } from '../../bench/cluster/node-group.js';
import { temporaryFolder } from '../../bench/ending.js';
import { freePorts } from '../../bench/free-ports.js';
import { rejection } from '../store/log-contract.js';
import { endAll, type NodeProcess, NotStarted, startProcess } from '../support/process.js';
import { beginPtf } from '../support/ptf.js';
import { until } from '../support/until.js';

const missing = noEtcd() ?? (spawnSync('openssl', ['version']).error === undefined ? undefined : 'openssl not found');
const user = 'ptf';
const password = 'a password of a test';
/** The member purges its write-ahead log soon, so that a scrub is quick. */
const fewFiles = { ETCD_SNAPSHOT_COUNT: '1000', ETCD_MAX_WALS: '1' };

/** Makes a certificate authority, and certificates for the member and for a client, in `dir`. */
function makeCertificates(dir: string): void {
  const openssl = (...args: string[]) => execFileSync('openssl', args, { cwd: dir, stdio: 'pipe' });
  const key = (name: string) => ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-keyout', name];
  for (const authority of ['ca', 'other-ca']) {
    openssl('req', '-x509', ...key(`${authority}.key`), '-out', `${authority}.pem`, '-subj', `/CN=${authority}`);
  }
  for (const name of ['member', 'client']) {
    openssl('req', ...key(`${name}.key`), '-out', `${name}.csr`, '-subj', `/CN=${name}`);
    const signed = ['x509', '-req', '-in', `${name}.csr`, '-CA', 'ca.pem', '-CAkey', 'ca.key', '-CAcreateserial'];
    const extension = join(dir, `${name}.ext`);
    execFileSync('sh', ['-c', `echo 'subjectAltName=IP:127.0.0.1' > ${extension}`]);
    openssl(...signed, '-out', `${name}.pem`, '-days', '2', '-extfile', extension);
  }
}

async function register(node: NodeProcess, name: string): Promise<number> {
  const answer = await fetch(`${node.url}/api/v1/peers/register`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ peer_name: name, game_ids: ['arena'] }),
  });
  return answer.status;
}

if (missing === undefined) {
  const folder = temporaryFolder('ptf-etcd-tls-');
  const at = (name: string) => join(folder.path, name);
  let endpoint = '';
  let peerPort = 0;
  let member: Child;

  const ctl = (...args: string[]) => {
    const secured = ['--cacert', at('ca.pem'), '--cert', at('client.pem'), '--key', at('client.key')];
    const env = { PATH: process.env.PATH, ETCDCTL_API: '3' };
    return execFileSync('etcdctl', ['--endpoints', endpoint, ...secured, ...args], { env, stdio: 'pipe' }).toString();
  };
  const variables = (name: string) => {
    const dir = at(name);
    mkdirSync(dir, { recursive: true });
    return {
      ...nodeVariables({ nodeId: name, url: 'http://127.0.0.1:1', endpoints: [endpoint] }),
      DATA_DIR: dir,
      ETCD_CA_FILE: at('ca.pem'),
      ETCD_CERT_FILE: at('client.pem'),
      ETCD_KEY_FILE: at('client.key'),
      ETCD_USERNAME: user,
      ETCD_PASSWORD: password,
    };
  };

  const startMember = (): Child => {
    const peer = `http://127.0.0.1:${peerPort}`;
    return new Child(
      'etcd',
      [
        ['--name', 'm', '--data-dir', at('m'), '--log-level', 'error'],
        ['--listen-client-urls', endpoint, '--advertise-client-urls', endpoint],
        ['--listen-peer-urls', peer, '--initial-advertise-peer-urls', peer, '--initial-cluster', `m=${peer}`],
        ['--cert-file', at('member.pem'), '--key-file', at('member.key')],
        ['--client-cert-auth', '--trusted-ca-file', at('ca.pem')],
        ['--snapshot-count', fewFiles.ETCD_SNAPSHOT_COUNT, '--max-wals', fewFiles.ETCD_MAX_WALS],
        ['--max-snapshots', '1'],
      ].flat(),
      { cwd: folder.path },
    );
  };
  test.before(async () => {
    makeCertificates(folder.path);
    const [clientPort, freePeerPort] = await freePorts(2);
    endpoint = `https://127.0.0.1:${clientPort}`;
    peerPort = freePeerPort!;
    member = startMember();
    await until(() => {
      try {
        ctl('get', 'any');
        return true;
      } catch {
        return false;
      }
    });
    ctl('user', 'add', 'root:another password');
    ctl('user', 'grant-role', 'root', 'root');
    ctl('user', 'add', `${user}:${password}`);
    ctl('user', 'grant-role', user, 'root');
    ctl('role', 'add', 'writer');
    ctl('role', 'grant-permission', 'writer', '--prefix=true', 'readwrite', '/ptf/');
    ctl('user', 'add', `writer:${password}`);
    ctl('user', 'grant-role', 'writer', 'writer');
    ctl('auth', 'enable');
  });
  test.after(async () => {
    endAll();
    await member.kill();
    folder.remove();
  });

  test('a node with a certificate and a password leads, writes, and reads the status of the member', async () => {
    const node = await startProcess(variables('n1'));
    await until(async () => (await register(node, 'Arena')) === 201);
    const { code, out, err } = await beginPtf(['cluster', 'status'], at('n1')).ended;
    assert.is(code, 0, err);
    assert.match(out, /n1.*leader/);
    assert.match(out, endpoint);
    assert.is(await node.kill('SIGTERM'), 0);
    assert.not.match(node.output(), password);
  });

  test('a node goes on with another token after its member was restarted', async () => {
    const node = await startProcess(variables('n1'));
    await until(async () => (await register(node, 'before')) === 201);
    await member.kill('SIGTERM');
    member = startMember();
    await until(async () => (await register(node, 'after')) === 201);
    assert.is(await node.kill('SIGTERM'), 0);
    assert.not.match(node.output(), 'leaves the cluster');
  });

  test('a scrub with a user that may not defragment is reported as incomplete', async () => {
    const node = await startProcess({ ...variables('n1'), ...fewFiles, ETCD_USERNAME: 'writer' });
    await until(async () => {
      // A node that joins or takes over may refuse for a moment, and its refusal has no such member.
      const health = (await (await fetch(`${node.url}/api/v1/health`)).json()) as { cluster?: { role: string } };
      return health.cluster?.role === 'leader';
    });
    const { code, err } = await beginPtf(['cluster', 'scrub', '--now'], at('n1')).ended;
    assert.is(code, 1, node.output());
    assert.match(err, "1 of etcd's members");
    assert.match(node.output(), 'permission denied');
    assert.is(await node.kill('SIGTERM'), 0);
  });

  test('a wrong password, a certificate of another authority and none are refused with the reason', async () => {
    for (const [env, reason] of [
      [{ ...variables('n2'), ETCD_PASSWORD: 'wrong' }, /invalid user ID or password/],
      [{ ...variables('n2'), ETCD_CA_FILE: at('other-ca.pem') }, /certificate/],
      [{ ...variables('n2'), ETCD_CERT_FILE: '', ETCD_KEY_FILE: '' }, /certificate|socket|closed|UNAVAILABLE/i],
    ] as const) {
      const refused = await rejection(startProcess(env));
      assert.instance(refused, NotStarted);
      const { exit, output } = refused as NotStarted;
      assert.is(exit, 1, output);
      assert.match(output, 'ETCD_ENDPOINTS');
      assert.match(output, reason);
      assert.not.match(output, password);
    }
  });
} else {
  process.stdout.write(`SKIPPED: ${missing}\n`);
}

test.run();
