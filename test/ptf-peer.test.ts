/** The process of `ptf-peer`: its version, and its end by a signal. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, openSync, readFileSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { fakeNode, groupAnswer } from './peer/fake-node.js';
import { endChildren, PeerWorld, peerEntry, SidecarProcess } from './peer/peer-world.js';

const world = new PeerWorld();
test.after(endChildren);

test('the version is that of the package, and no reader of it need be there', async () => {
  const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
  const [read, unread] = [world.start(['--version']), world.start(['--version'])];
  unread.child.stdout!.destroy();
  assert.equal(await Promise.all([read.ended, unread.ended]), [
    { code: 0, out: `${version}\n`, err: '' },
    { code: 0, out: '', err: '' },
  ]);
});

test('an output that cannot be written ends with 1 and is reported', async () => {
  if (!existsSync('/dev/full')) return;
  const full = openSync('/dev/full', 'w');
  const child = spawn(process.execPath, [peerEntry, '--version'], { stdio: ['ignore', full, 'pipe'] });
  const [err] = await Promise.all([text(child.stderr!), once(child, 'close')]);
  closeSync(full);
  assert.match(err, /^ptf-peer: the output could not be written: ENOSPC.* \(output_failed\)\n$/);
  assert.is(child.exitCode, 1);
});

test('a signal ends a sidecar in good order', async () => {
  await using node = await fakeNode(() => groupAnswer());
  world.writeConfig({ url: node.url, peerId: 'p', apiKey: 'k', groupSalt: 'a salt of sixteen bytes' });
  const sidecar = await new SidecarProcess(world).listening();
  assert.is((await sidecar.kill('SIGTERM')).code, 0);
});

test.run();
