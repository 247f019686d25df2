/** The errors of the commands of `ptf-peer`, their exit codes, and their end by a signal. */
import { existsSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { saltCheckOf } from '../../../src/client/ids/salt-check.js';
import { onFailingDisk } from '../../support/failing-disk.js';
import { temporaryFolder } from '../../support/process.js';
import { fakeNode, groupAnswer } from '../fake-node.js';
import { PeerWorld } from '../peer-world.js';

let world: PeerWorld;
test.before.each(() => {
  world = new PeerWorld();
  world.writeConfig({ url: 'http://127.0.0.1:9', peerId: 'p', apiKey: 'k', groupSalt: 'a salt of sixteen bytes' });
});

test('a command line that is wrong ends with one line, or one document, and exit code 2', async () => {
  for (const [args, error] of [
    [[], 'a command is missing; see --help'],
    [['nothing'], "unknown command 'nothing'; see --help"],
    [['doctor', '--wrong'], "unknown option '--wrong'; see --help"],
    [
      ['sidecar', '--port', '65536'],
      /^option '--port <number>' argument '65536' is invalid. expected .* to 65535; see/,
    ],
    [['import', '/absent', '--dry-run'], /ENOENT/],
    [['import', '--dry-run'], 'name a file, - for standard input'],
    [['import', 'a', 'b', '--dry-run'], 'name one list; a command stands after --'],
    [['import', 'x', '--game', 'chess'], '--game must be one of the configuration: arena'],
    [['watch', '-'], 'standard input cannot be followed'],
    [['watch', '/absent', '--every', '1d'], 'expected a time such as'],
    [['export', '--ids', 'x'], "required option '--format <format>' not specified"],
  ] as const) {
    const said = await world.run(args);
    assert.match(said.err.replace(/^[\s\S]*ptf-peer: /, ''), error);
    assert.match(said.err, /^ptf-peer: .* \(wrong_usage\)\n$/m);
    const { code, out } = await world.run(['--json', ...args]);
    const document = JSON.parse(out);
    assert.match(document.error, error);
    assert.equal([said.code, said.out, code, document.code], [2, '', 2, 'wrong_usage']);
  }
  const own = await world.run(['import', '--dry-run', '--', 'false', '--json']);
  assert.equal([own.out, /^ptf-peer: .*\n$/.test(own.err)], ['', true], own.err);
  const both = await world.run(['--json', 'import', '--dry-run', '--', 'false', '--json']);
  assert.is(JSON.parse(both.out).code, 'source_unreachable');
  for (const host of ['0.0.0.0', 'localhost', '127.0.0.1.example', '::2', '128.0.0.1']) {
    assert.match((await world.run(['sidecar', '--host', host])).err, '--host must be a loopback address');
  }
});

test('a disk that cannot be written ends each command with one code and exit code, in plain words', async () => {
  const node = await fakeNode(() => groupAnswer());
  world.writeConfig({ url: node.url, peerId: 'p', apiKey: 'k', groupSalt: 'a salt of sixteen bytes' });
  const env = { PTF_PEER_GROUP_SALT: 'a salt of sixteen bytes' };
  const list = join(world.folder, 'banned_user.cfg');
  writeFileSync(list, 'banid 0 STEAM_0:1:2147480000\n');
  try {
    for (const [code, words] of [
      ['ENOSPC', 'the disk is full (ENOSPC): free disk space'],
      ['EACCES', 'this user has no permission (EACCES): make this user the owner of the file and its folder'],
    ] as const) {
      for (const args of [
        ['import', list],
        ['watch', list],
        ['sidecar', '--port', '0'],
        ['relay', '--webhook', 'http://127.0.0.1:9/'],
        ['register', '--url', node.url, '--name', 'x', '--game', 'a', '--force'],
      ]) {
        const ran = await onFailingDisk(code, () => world.run(args, env, AbortSignal.timeout(20_000)));
        const last = ran.err.trimEnd().split('\n').at(-1)!;
        assert.ok(last.endsWith(`: ${words} (spool_failed)`), `${args[0]} ${code}: ${ran.err}`);
        assert.is(ran.code, 3);
      }
    }
  } finally {
    await node.close();
  }
});

test('help and version are printed with exit code 0', async () => {
  assert.equal(await world.run(['--version']), { code: 0, out: '0.0.0\n', err: '' });
  const help = await world.run(['--help']);
  assert.match(help.out, 'Exit codes: 0 done, 1 some lines or checks refused, 2 wrong usage');
  const { code, out, err } = await world.run(['sidecar', '--help']);
  assert.equal([code, err, out.includes('--config <file>')], [0, '', true]);
  assert.ok(
    out.split('\n').some((line) => line.length > 80),
    'lines are as wide as the terminal, up to a bound',
  );
});

test('a command that does not end by itself ends with its signal, and says what it served', async () => {
  await using node = await fakeNode(() => groupAnswer());
  world.writeConfig({ url: node.url, peerId: 'p', apiKey: 'k', groupSalt: 'a salt of sixteen bytes' });
  const ended = AbortSignal.abort();
  const socket = join(temporaryFolder(), 'socket');
  const sidecar = await world.run(['--json', 'sidecar', '--port', '0', '--socket', socket], {}, ended);
  const { port, url, ...more } = JSON.parse(sidecar.out);
  const tokenFile = join(world.stateDir, 'sidecar', 'token');
  assert.equal(more, { msg: 'listening', socket, token_file: tokenFile });
  assert.equal([sidecar.code, url, existsSync(socket)], [0, `http://127.0.0.1:${port}`, false]);
  assert.is(statSync(tokenFile).mode & 0o777, 0o600);
  const taken = await world.run(['sidecar', '--port', '0', '--socket', tokenFile], {}, ended);
  assert.match(taken.err, `${tokenFile} exists and is no socket; name another (wrong_usage)`);

  const given = { PTF_PEER_SIDECAR_TOKEN: 'a-token-of-the-game' };
  const asked = await world.run(
    ['sidecar', '--port', '0', '--act-on', 'suspicious', '--mode', 'enforce'],
    given,
    ended,
  );
  assert.match(asked.out, /^sidecar on http:\/\/127\.0\.0\.1:\d+, mode enforce, token in PTF_PEER_SIDECAR_TOKEN\n$/);
  const secret = join(world.stateDir, 'sidecar', 'answers-secret');
  assert.match(asked.err, `answers game servers under /answers/SECRET, with the secret in ${secret}`);
  const short = await world.run(['sidecar', '--port', '0'], { PTF_PEER_SIDECAR_TOKEN: 'short' }, ended);
  assert.match(short.err, 'PTF_PEER_SIDECAR_TOKEN must have 16 to 256 printable characters');

  const relay = await world.run(['relay', '--discord', '--webhook', 'http://127.0.0.1:9/x'], {}, ended);
  assert.equal([relay.code, relay.out, /relay delivered 0 webhooks\n$/.test(relay.err)], [0, '', true], relay.err);
  const watch = await world.run(['watch', join(world.folder, 'bans.csv')], {}, ended);
  assert.equal([watch.code, /bans\.csv does not exist: waiting/.test(watch.err)], [0, true], watch.err);
});

test('the exit code of the doctor says whether a check failed, or no node answers', async () => {
  const groupSalt = 'a salt of sixteen bytes';
  for (const [salt_check, status, code, failing] of [
    [saltCheckOf(groupSalt), 200, 0, undefined],
    ['00000000', 200, 1, 'salt'],
    ['', 404, 3, 'node'],
  ] as const) {
    await using node = await fakeNode(({ method }) => {
      if (status === 404) return { status, body: { code: 'route_not_found', error: 'no such route' } };
      if (method === 'GET') return groupAnswer({ salt_check });
      return { body: { results: [{ status: 400, code: 'timestamp_in_future', error: 'in the future' }] } };
    });
    world.writeConfig({ url: node.url, peerId: 'p', apiKey: 'k', groupSalt });
    const asked = await world.run(['--json', 'doctor']);
    const { ok, reachable, findings } = JSON.parse(asked.out);
    assert.equal([asked.code, ok, reachable], [code, code === 0, code !== 3], asked.out);
    const failed = findings.filter(({ result }: { result: string }) => result === 'fail');
    assert.is(failed[0]?.check, failing);
    const lines = (await world.run(['doctor'])).out.split('\n');
    assert.is(lines[0], `ok   configuration: ${findings[0].text}`);
    assert.is(lines.length, findings.length + 1);
  }
});

test.run();
