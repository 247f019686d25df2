/** `ptf doctor` with everything in this process: the folder, the node, and what lies around them. */
import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer as createHttpServer, type RequestListener } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { VerifyReport } from '../../../src/group/api.js';
import { UnreadError } from '../../../src/group/ports/storage.js';
import { temporaryFolder } from '../../support/process.js';
import { recordedGroup } from '../recorded-group.js';
import { configuration, intactReport, runHere, serveOperator } from '../run-here.js';

type Over = Parameters<typeof runHere>[2];
const intact = { verifyFolder: async () => intactReport };

/** Returns the exit code, and the findings as `result check text`. */
async function examined(dir: string, over: Over = intact) {
  const { code, out, err } = await runHere(['doctor', '--json'], dir, over);
  assert.is(err, '');
  const { checks } = JSON.parse(out) as { checks: { check: string; result: string; text: string }[] };
  return { code, found: checks.map(({ check, result, text }) => `${result} ${check} ${text}`) };
}

test('a node that does not answer is one finding among others', async () => {
  const dir = temporaryFolder();
  const mute = createServer((socket) => socket.on('error', () => undefined).once('data', () => socket.destroy()));
  mute.listen(join(dir, 'operator.sock'));
  await once(mute, 'listening');
  const { code, out } = await runHere(['doctor'], dir);
  mute.close();
  assert.is(code, 1);
  assert.match(out, /^fail {2}node {2,}the node did not answer/m);
  assert.match(out, /^\w+ +disk/m);
});

test('a file in place of the folder, or one that prevents its creation, is found', async () => {
  const dir = temporaryFolder();
  symlinkSync('nowhere', join(dir, 'dangling'));
  writeFileSync(join(dir, 'file'), '');
  for (const name of ['dangling', 'file']) {
    const { code, out } = await runHere(['doctor'], join(dir, name));
    assert.is(code, 1, out);
    assert.match(out, /^fail {2}permissions .* is not a folder/m, name);
    assert.match(out, /^\w+ +disk/m, name);
  }
});

test('if there is no folder yet, the nearest one above it is examined', async () => {
  const dir = join(temporaryFolder(), 'not', 'yet');
  const { code, out } = await runHere(['doctor'], dir);
  assert.is(code, 1, out);
  assert.match(out, `no node runs on ${dir}`);
  assert.match(out, /no data folder yet/);
  assert.match(out, /^ok {4}disk {2,}\d/m);
});

test('beside a folder without a node, a busy port, other nodes and signs of them are named', async () => {
  const [dir, other] = [temporaryFolder(), temporaryFolder()];
  const busy = createServer((socket) => socket.resume()).listen(0, '127.0.0.1');
  await once(busy, 'listening');
  const { port } = busy.address() as AddressInfo;
  const node = await serveOperator(other, recordedGroup(1).group);
  const around = (host: string) =>
    examined(dir, {
      ...intact,
      configuration: () => ({
        ...configuration,
        address: { host, port },
        folders: [dir, other, `${other}/`, join(dir, 'none')],
        signs: [['the unit is installed', 'ask systemctl']],
      }),
    });
  const named = [`warn elsewhere a node runs on ${other}`, 'warn elsewhere the unit is installed'];
  for (const host of ['127.0.0.1', '0.0.0.0']) {
    const { found } = await around(host);
    assert.equal(found.slice(-3), [`fail port another process listens on ${host}:${port}`, ...named]);
  }
  busy.close();
  await once(busy, 'close');
  assert.equal((await around('0.0.0.0')).found.slice(-3), [`fail node no node runs on ${dir}`, ...named]);
  await node.close();
});

test('a node that starts or joins its cluster is no other process, and nothing is advised against it', async () => {
  const dir = temporaryFolder();
  const examinedBeside = async (answer: RequestListener): Promise<string[]> => {
    const server = createHttpServer(answer).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const address = { host: '127.0.0.1', port };
    const { found } = await examined(dir, { ...intact, configuration: () => ({ ...configuration, address }) });
    server.close();
    server.closeAllConnections();
    return found.filter((one) => /^\w+ (?:node|port|store)/.test(one)).map((one) => one.replace(String(port), 'PORT'));
  };
  const unready = (details: object) => examinedBeside((_, to) => to.writeHead(503).end(JSON.stringify({ details })));
  const notServing = (why: string) => [`fail node the node on 127.0.0.1:PORT does not serve: ${why}`];
  assert.equal(await unready({ reason: 'recovering' }), notServing('recovering'));
  assert.equal(
    await unready({ reason: 'CLUSTER_SECRET differs', role: 'joining' }),
    notServing('CLUSTER_SECRET differs'),
  );
  const absent = [
    'ok store intact as far as a start reads, up to record 9; ptf verify reads all of it',
    `fail node no node runs on ${dir}`,
    'fail port another process listens on 127.0.0.1:PORT',
  ];
  assert.equal(await unready({ reason: 'disk_low' }), absent);
  assert.equal(await examinedBeside((_, to) => to.end('null')), absent);
});

test('a running node is examined by its state, without a look into its store', async () => {
  const dir = temporaryFolder();
  const node = await serveOperator(dir, recordedGroup(1).group);
  chmodSync(dir, 0o700);
  const { code, found } = await examined(dir, {});
  await node.close();
  assert.is(code, 0);
  const checks = found.map((one) => one.split(' ', 2).join(' '));
  const warned = checks.filter((one) => one.startsWith('warn') && !/clock|memory|disk/.test(one));
  assert.equal(warned, ['warn configuration']);
  assert.ok(found.some((one) => /^ok node runs and accepts commands: record 1, 1 snapshots/.test(one)));
  for (const absent of ['store', 'elsewhere', 'etcd', 'evidence'])
    assert.not(checks.some((one) => one.includes(absent)));
});

test('without a node its store is verified as a start does, and a start refuses what it holds', async () => {
  const dir = temporaryFolder();
  const asked: unknown[] = [];
  const verifying = (over: Partial<VerifyReport>) => ({
    verifyFolder: async (of: string, mode: string) => {
      asked.push(of, mode);
      return { ...intactReport, ...over };
    },
    startProblems: async (of: string) => {
      asked.push(of);
      return ['GROUP_ID is another'];
    },
  });
  const refused = await examined(dir, verifying({}));
  assert.is(refused.code, 1);
  assert.ok(refused.found.includes('fail configuration GROUP_ID is another'));
  assert.ok(refused.found.some((one) => /^ok store intact .* up to record 9/.test(one)));
  // A store that is empty or damaged names no group.
  assert.ok((await examined(dir, verifying({ lastSeq: 0 }))).found.some((one) => one.startsWith('ok store empty')));
  const damaged = await examined(dir, verifying({ ok: false, faults: ['the log is cut'] }));
  assert.ok(damaged.found.includes('fail store the log is cut'));
  assert.equal(asked, [dir, 'start', dir, dir, 'start', dir, 'start']);
});

test('a store that cannot be read now is a finding, and another failure ends the examination', async () => {
  const failing = (error: Error) => ({ verifyFolder: () => Promise.reject(error) });
  const { code, found } = await examined(temporaryFolder(), failing(new UnreadError('the disk is full')));
  assert.equal([code, found.includes('fail store the disk is full')], [1, true]);
  const { err } = await runHere(['doctor'], temporaryFolder(), failing(new Error('broken')));
  assert.is(err, 'ptf: broken (internal_error)\n');
});

test('a folder that no node made is not verified, and nothing is advised that would change it', async () => {
  const dir = temporaryFolder();
  chmodSync(dir, 0o755);
  const over = { foreignEntry: () => 'notes.txt' };
  // An empty folder has no entry to ask about.
  assert.is((await examined(dir, { ...intact, ...over })).found[0], `ok folder ${dir}`);
  writeFileSync(join(dir, 'notes.txt'), '');
  const { found } = await examined(dir, over);
  assert.match(found[0]!, `fail folder ${dir} has the entry notes.txt`);
  assert.not(found.some((one) => /permissions|store/.test(one.split(' ')[1]!)));
  const unread = () => {
    throw new Error('EACCES');
  };
  assert.is((await examined(dir, { ...intact, foreignEntry: unread })).found[0], `ok folder ${dir}`);
});

test('the files of the folder and one level below are examined, and their sizes summed', async () => {
  const dir = temporaryFolder();
  mkdirSync(join(dir, 'log', 'deep'), { recursive: true });
  writeFileSync(join(dir, 'log', 'data.mdb'), Buffer.alloc(1_500_000));
  writeFileSync(join(dir, 'head.json'), Buffer.alloc(600_000));
  writeFileSync(join(dir, 'log', 'deep', 'unseen'), Buffer.alloc(5_000_000));
  writeFileSync(join(dir, 'group-salt'), 'salt', { mode: 0o644 });
  const { found } = await examined(dir);
  assert.ok(
    found.some((one) => /^\w+ disk .*the store takes 2\.1 MB/.test(one)),
    found.join('\n'),
  );
  assert.ok(found.includes('warn permissions group-salt: open to other users'));
});

test('the clock is synchronised if the service that keeps it says so, and unknown without this service', async () => {
  const [service, mark] = ['/run/systemd/timesync', '/run/systemd/timesync/synchronized'].map((path) =>
    existsSync(path),
  );
  const text = mark ? 'synchronised by an NTP client' : service ? 'no service keeps' : 'whether NTP keeps';
  assert.match((await examined(temporaryFolder())).found.find((one) => one.includes(' clock ')) ?? '', text);
});

test('findings are printed with their advice below them, and counted if they must be fixed', async () => {
  const dir = temporaryFolder();
  const verifyFolder = async () => ({ ...intactReport, faults: ['cut'] });
  const { code, out, err } = await runHere(['doctor'], dir, { verifyFolder });
  assert.match(out, /^fail {2}store +cut\n +-> do not change the folder; see "A damaged disk"/m);
  assert.match(out, /^ok {4}folder +\//m);
  assert.equal([code, /^ptf: 2 of \d+ findings must be fixed \(unhealthy\)\n$/.test(err)], [1, true], err);
});

test.run();
