/** The proxy of the group on one machine. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { Balancer } from '../../bench/cluster/balancer.js';
import { messageOf } from '../../src/errors.js';
import { closing } from '../support/closing.js';

test('a port that another process uses is named, with the option that chooses another', async () => {
  await using taken = closing(createServer());
  await new Promise<void>((listens) => void taken.listen(0, '127.0.0.1', listens));
  const { port } = taken.address() as AddressInfo;
  const balancer = new Balancer([]);
  const refusal = await balancer.listen(port).then(() => undefined, messageOf);
  assert.is(refusal, `port ${port} is in use by another process; stop it, or give another one with --port`);
  balancer.close();
});

test.run();
