/** The connection that must go when there is no room for a new one. */
import { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { type ConnectionBounds, Connections } from '../../../src/http/server/connections.js';
import { limits } from '../../../src/limits.js';

/** As much of a socket as the table looks at. */
class FakeSocket extends EventEmitter {
  bytesRead = 0;
  isBusy = false;
  isDestroyed = false;

  constructor(readonly remoteAddress = '203.0.113.1') {
    super();
  }

  destroy(): void {
    this.isDestroyed = true;
  }
}

function tableOf(bounds: Partial<ConnectionBounds>) {
  const all = { max: 3, perAddressMax: 100, loopbackIsProxy: true, ...bounds };
  const table = new Connections(all, (socket) => !(socket as unknown as FakeSocket).isBusy);
  const admit = (socket: FakeSocket) => table.admit(socket as unknown as Socket);
  return { admit };
}

const sockets = (count: number, address?: string) => Array.from({ length: count }, () => new FakeSocket(address));

/** Sockets in the order of their addresses, `p` for a proxy. */
const socketsFrom = (addresses: string) =>
  [...addresses].map((name) => new FakeSocket(name === 'p' ? '127.0.0.1' : `203.0.113.${name}`));

/** Admits connections in the order of their addresses and returns them. */
function admitted(admit: (socket: FakeSocket) => boolean, addresses: string): FakeSocket[] {
  const all = socketsFrom(addresses);
  for (const socket of all) assert.ok(admit(socket));
  return all;
}

/** A letter for each connection: `x` for one that was closed. */
const destroyedIn = (all: readonly FakeSocket[]) => all.map(({ isDestroyed }) => (isDestroyed ? 'x' : '.')).join('');

const rules: readonly (readonly [
  rule: string,
  bounds: Partial<ConnectionBounds>,
  open: string,
  newcomers: string,
  closed: string,
])[] = [
  ['an address that holds its share loses one of its own', { max: 10, perAddressMax: 2 }, '211', '1', '.x..'],
  [
    'only the address with more than its share loses any, though another rested longest',
    {},
    '22111111',
    '333',
    '..xxx......',
  ],
  ['two addresses with half of the room each lose their oldest', {}, '122211', '2', 'x......'],
  ['a proxy counts as one address, whose connections are not closed for its own', {}, 'ppp11111', 'p', '...x.....'],
  [
    'where each of all addresses holds its share, also a proxy, the one that rested longest goes',
    {},
    'p12',
    'p',
    'x...',
  ],
  ['the newcomer counts as an address: a third of the room is less than two', {}, '1221', '3', '.x...'],
  ['the newcomer counts as an address: a fourth of the room is two', {}, 'pppp1122', '3', 'x........'],
  ['a proxy counts with a single connection: a third of the room is less than two', {}, '1p22', '1', '..x..'],
];

for (const [rule, bounds, open, newcomers, closed] of rules) {
  test(`the shares of addresses: ${rule}`, () => {
    const { admit } = tableOf({ max: open.length, ...bounds });
    assert.is(destroyedIn(admitted(admit, open + newcomers)), closed);
  });
}

test('the oldest idle connection is closed for a new one, and a busy one never', () => {
  const { admit } = tableOf({ max: 3 });
  const all = sockets(4);
  all[0]!.isBusy = true;
  for (const socket of all) assert.ok(admit(socket));
  assert.is(destroyedIn(all), '.x..');
});

test('a connection that was active since the last look outlives a silent one', () => {
  const { admit } = tableOf({ max: 3 });
  const all = admitted(admit, '111');
  all[0]!.bytesRead = 100;
  admitted(admit, '1');
  assert.is(destroyedIn(all), '.x.');
  // Without another request it has had its second chance.
  admitted(admit, '1');
  assert.is(destroyedIn(all), '.xx');
});

test('an idle connection behind a thousand busy ones is found', () => {
  const { admit } = tableOf({ max: 1_001, perAddressMax: Number.POSITIVE_INFINITY });
  // Readers of the verdict stream are busy for as long as they live.
  for (const socket of sockets(1_000)) {
    socket.isBusy = true;
    admit(socket);
  }
  const [idle] = admitted(admit, '11');
  assert.ok(idle!.isDestroyed);
});

test('a new connection is refused after a bounded search if every connection is busy', () => {
  const { admit } = tableOf({ max: 10 * limits.evictionLooks, perAddressMax: Number.POSITIVE_INFINITY });
  const all = sockets(10 * limits.evictionLooks);
  for (const socket of all) {
    socket.isBusy = true;
    assert.ok(admit(socket));
  }
  assert.not(admit(new FakeSocket()));
  assert.not(all.some(({ isDestroyed }) => isDestroyed));
});

test('a place is free once its connection has closed', () => {
  const { admit } = tableOf({ max: 1 });
  const first = new FakeSocket();
  first.isBusy = true;
  admit(first);
  assert.not(admit(new FakeSocket()));
  first.emit('close');
  assert.ok(admit(new FakeSocket()));
});

test('an address with more than its share, all busy, is refused instead of getting the room of others', () => {
  const { admit } = tableOf({ max: 8 });
  const all = socketsFrom('11111122');
  for (const socket of all.slice(0, 6)) socket.isBusy = true;
  for (const socket of all) admit(socket);
  assert.not(admit(new FakeSocket(all[0]!.remoteAddress)));
  assert.is(destroyedIn(all), '........');
});

test('a proxy counts as an address for as long as one of its connections is open', () => {
  const { admit } = tableOf({ max: 4 });
  const [left] = admitted(admit, 'p');
  left!.emit('close');
  const others = admitted(admit, '1221');
  admitted(admit, '1');
  assert.is(destroyedIn(others), 'x...', 'half of the room is two');
});

test('a connection that closes after another took its room does not leave twice', () => {
  const { admit } = tableOf({ max: 4 });
  const all = admitted(admit, 'p123p');
  all[0]!.emit('close');
  all[3]!.emit('close');
  const later = admitted(admit, '21');
  assert.is(destroyedIn([...all, ...later]), 'x.x....', 'a third of the room is less than two');
});

test('a connection that was passed over is the last to be looked at among those of its address, too', () => {
  const { admit } = tableOf({ max: 10, perAddressMax: 3 });
  const [busy] = socketsFrom('1');
  busy!.isBusy = true;
  admit(busy!);
  const others = admitted(admit, '111');
  busy!.isBusy = false;
  admitted(admit, '1');
  assert.is(destroyedIn([busy!, ...others]), '.xx.');
});

test('a connection that asked something is passed over more often than one that never did', () => {
  const { admit } = tableOf({ max: 3 });
  const [asked] = admitted(admit, '111');
  asked!.bytesRead = 100;
  // Each round looks at it once, and closes two that never asked.
  for (let round = 0; round <= limits.evictionChances; round++) {
    assert.not(asked!.isDestroyed, `round ${round}`);
    admitted(admit, '11');
  }
  admitted(admit, '111');
  assert.ok(asked!.isDestroyed);
});

for (const address of ['127.0.0.1', '::1', '::ffff:127.0.0.1']) {
  test(`connections from ${address} are from a proxy and may take all places, unless configured otherwise`, () => {
    for (const loopbackIsProxy of [true, false]) {
      const { admit } = tableOf({ max: 10, perAddressMax: 2, loopbackIsProxy });
      const all = sockets(4, address);
      for (const socket of all) socket.isBusy = true;
      assert.is(all.filter(admit).length, loopbackIsProxy ? 4 : 2);
    }
  });
}

test.run();
