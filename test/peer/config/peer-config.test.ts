import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { bounds } from '../../../src/client/bounds.js';
import { loadPeerConfig } from '../../../src/peer/config/peer-config.js';
import { PeerWorld } from '../peer-world.js';

test('a salt of the fewest bytes that a group may have is accepted, and a shorter one is refused', async () => {
  const world = new PeerWorld();
  const load = (groupSalt: string) => {
    world.writeConfig({ url: 'http://node', peerId: 'p', apiKey: 'k', groupSalt });
    return loadPeerConfig({ env: {}, home: world.folder }, world.configPath);
  };
  const shortest = 's'.repeat(bounds.saltBytesMin);
  assert.is((await load(shortest)).groupSalt, shortest);
  const refused = await load(shortest.slice(1)).catch((error: Error) => error.message);
  assert.match(String(refused), /group_salt.* must have at least 16 bytes/);
  world.remove();
});

test.run();
