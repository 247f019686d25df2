/** Tells a living owner of a data folder from a dead one. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { FolderOwnedError, ownFolder, refuseLiving } from '../../../src/store/ownership/owner.js';
import { rejection } from '../log-contract.js';
import { deadProcess, removeFolder, temporaryFolder } from '../temporary-folder.js';

test('an owner of another boot or container lives by its heartbeat, whatever process has its number here', async () => {
  const times = { heartbeatMs: 5, ownerSilentMs: 1_000 };
  for (const other of [{ pidNamespace: 'pid:[1]' }, { bootId: 'another boot' }]) {
    const dir = temporaryFolder();
    const owner = await ownFolder(dir, { ...deadProcess(), ...other }, times);
    assert.instance(await rejection(refuseLiving(dir, undefined, times)), FolderOwnedError, JSON.stringify(other));
    await owner.release();
    removeFolder(dir);
  }
});

test.run();
