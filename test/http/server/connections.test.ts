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

test('the oldest idle connection is closed for a new one, and a busy one never', () => {
  const { admit } = tableOf({ max: 3 });
  const [first, second, third] = sockets(3) as [FakeSocket, FakeSocket, FakeSocket];
  first.isBusy = true;
  for (const socket of [first, second, third, new FakeSocket()]) assert.ok(admit(socket));
  assert.equal([first.isDestroyed, second.isDestroyed, third.isDestroyed], [false, true, false]);
});

test('a connection that was active since the last look outlives a silent one', () => {
  const { admit } = tableOf({ max: 3 });
  const [active, silent, third] = sockets(3) as [FakeSocket, FakeSocket, FakeSocket];
  for (const socket of [active, silent, third]) admit(socket);
  active.bytesRead = 100;
  admit(new FakeSocket());
  assert.equal([active.isDestroyed, silent.isDestroyed], [false, true]);
  // Without another request it has had its second chance.
  admit(new FakeSocket());
  assert.ok(third.isDestroyed);
});

test('an idle connection behind a thousand busy ones is found', () => {
  const { admit } = tableOf({ max: 1_001, perAddressMax: Number.POSITIVE_INFINITY });
  const idle = new FakeSocket();
  // Readers of the verdict stream are busy for as long as they live.
  for (const socket of sockets(1_000)) {
    socket.isBusy = true;
    admit(socket);
  }
  admit(idle);
  assert.ok(admit(new FakeSocket()));
  assert.ok(idle.isDestroyed);
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

test('an address that holds its share gives up a connection of its own, and none of others', () => {
  const { admit } = tableOf({ max: 10, perAddressMax: 2 });
  const other = new FakeSocket('198.51.100.7');
  const [first, second] = sockets(2) as [FakeSocket, FakeSocket];
  for (const socket of [other, first, second]) admit(socket);
  assert.ok(admit(new FakeSocket()));
  assert.equal([other.isDestroyed, first.isDestroyed, second.isDestroyed], [false, true, false]);
});

test('only the address with more than its share loses a connection when all share the room', () => {
  const { admit } = tableOf({ max: 8 });
  // The longest idle of all is another's.
  const [few, many] = [sockets(2, '198.51.100.7'), sockets(6)];
  for (const socket of [...few, ...many]) admit(socket);
  const fresh = sockets(3, '192.0.2.9');
  assert.ok(fresh.every(admit));
  assert.equal(
    [few, many, fresh].map((all) => all.filter(({ isDestroyed }) => isDestroyed).length),
    [0, 3, 0],
  );
});

test('an address with more than its share, all busy, is refused instead of getting the room of others', () => {
  const { admit } = tableOf({ max: 8 });
  const [few, many] = [sockets(2, '198.51.100.7'), sockets(6)];
  for (const socket of many) socket.isBusy = true;
  for (const socket of [...few, ...many]) admit(socket);
  assert.not(admit(new FakeSocket()));
  assert.not(few.some(({ isDestroyed }) => isDestroyed));
});

test('where no proxy is connected two addresses with half of the room each lose the oldest connection', () => {
  const { admit } = tableOf({ max: 6 });
  const [first, ...others] = sockets(3, '203.0.113.1') as [FakeSocket, ...FakeSocket[]];
  for (const socket of [first, ...sockets(3, '203.0.113.2'), ...others]) admit(socket);
  assert.ok(admit(new FakeSocket('203.0.113.2')));
  assert.ok(first.isDestroyed);
});

test('a proxy counts as one address, whose connections are not closed for its own', () => {
  const { admit } = tableOf({ max: 8 });
  const [proxied, direct] = [sockets(3, '127.0.0.1'), sockets(5)];
  for (const socket of [...proxied, ...direct]) admit(socket);
  assert.ok(admit(new FakeSocket('127.0.0.1')));
  assert.equal(
    [proxied, direct].map((all) => all.filter(({ isDestroyed }) => isDestroyed).length),
    [0, 1],
  );
});

test('where each of all addresses holds its share, also a proxy, the longest idle connection is closed', () => {
  const { admit } = tableOf({ max: 3 });
  const [proxied, ...direct] = ['127.0.0.1', '203.0.113.1', '203.0.113.2'].map((address) => new FakeSocket(address));
  for (const socket of [proxied!, ...direct]) admit(socket);
  assert.ok(admit(new FakeSocket('127.0.0.1')));
  assert.equal(
    [proxied!, ...direct].map(({ isDestroyed }) => isDestroyed),
    [true, false, false],
  );
});

/** Admits connections in the order of their addresses, `p` for a proxy, and returns them. */
function admitted(admit: (socket: FakeSocket) => boolean, addresses: string): FakeSocket[] {
  const all = [...addresses].map((name) => new FakeSocket(name === 'p' ? '127.0.0.1' : `203.0.113.${name}`));
  for (const socket of all) assert.ok(admit(socket));
  return all;
}

const destroyedIn = (all: readonly FakeSocket[]) => all.map(({ isDestroyed }) => (isDestroyed ? 'x' : '.')).join('');

test('the shares count the new address, and a proxy with a single connection', () => {
  const closedFor = (addresses: string, newcomer: string) => {
    const { admit } = tableOf({ max: addresses.length });
    const all = admitted(admit, addresses);
    admitted(admit, newcomer);
    return destroyedIn(all);
  };
  assert.is(closedFor('1221', '3'), '.x..', 'a third of the room is less than two');
  assert.is(closedFor('pppp1122', '3'), 'x.......', 'a fourth of the room is two');
  assert.is(closedFor('1p22', '1'), '..x.', 'a third of the room is less than two');
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
  const busy = new FakeSocket('203.0.113.1');
  busy.isBusy = true;
  admit(busy);
  const others = admitted(admit, '111');
  busy.isBusy = false;
  admitted(admit, '1');
  assert.is(destroyedIn([busy, ...others]), '.xx.');
});

test('a connection that asked something is passed over more often than one that never did', () => {
  const { admit } = tableOf({ max: 3 });
  const [asked, ...others] = sockets(3) as [FakeSocket, ...FakeSocket[]];
  for (const socket of [asked, ...others]) admit(socket);
  asked.bytesRead = 100;
  // Each round looks at it once, and closes two that never asked.
  for (let round = 0; round <= limits.evictionChances; round++) {
    assert.not(asked.isDestroyed, `round ${round}`);
    for (let i = 0; i < 2; i++) admit(new FakeSocket());
  }
  for (let i = 0; i < 3; i++) admit(new FakeSocket());
  assert.ok(asked.isDestroyed);
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
