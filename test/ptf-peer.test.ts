/** The process of `ptf-peer`: its version, and its end by a signal. */
import { readFileSync } from 'node:fs';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { fakeNode, groupAnswer } from './peer/fake-node.js';
import { endChildren, PeerWorld, SidecarProcess } from './peer/peer-world.js';

const world = new PeerWorld();
test.after(() => {
  endChildren();
  world.remove();
});

test('the version is that of the package, and no reader of it need be there', async () => {
  const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
  const [read, unread] = [world.start(['--version']), world.start(['--version'])];
  unread.child.stdout!.destroy();
  assert.equal(await Promise.all([read.ended, unread.ended]), [
    { code: 0, out: `${version}\n`, err: '' },
    { code: 0, out: '', err: '' },
  ]);
});

test('a signal ends a sidecar in good order', async () => {
  const node = await fakeNode(() => groupAnswer());
  world.writeConfig({ url: node.url, peerId: 'p', apiKey: 'k', groupSalt: 'a salt of sixteen bytes' });
  const sidecar = await new SidecarProcess(world).listening();
  assert.is((await sidecar.kill('SIGTERM')).code, 0);
  await node.close();
});

test.run();
