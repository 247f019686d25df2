/** The client of etcd: its calls as a member receives them, what their answers mean, and that closing ends them. */
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { type Metadata, Server, ServerCredentials, type ServerDuplexStream, status } from '@grpc/grpc-js';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { SharedLogUnavailableError } from '../../../src/group/ports/shared-log.js';
import { limits } from '../../../src/limits.js';
import { EtcdClient, withLease } from '../../../src/store/etcd/etcd-client.js';
import { type MethodName, methodOf } from '../../../src/store/etcd/etcd-messages.js';
import { withBounds } from '../../sim/profile.js';
import { until } from '../../support/until.js';
import { rejection } from '../log-contract.js';

const key = Buffer.from('a');
const sockets = new Set<Socket>();
/** A member that accepts connections and never answers. */
const server = createServer((socket) => {
  sockets.add(socket);
  socket.on('error', () => undefined);
});
test.before(async () => {
  await once(server.listen(0, '127.0.0.1'), 'listening');
});
test.after(() => {
  for (const socket of sockets) socket.destroy();
  server.close();
});

const clientOf = (endpoints: readonly string[], username: string | null = null, start?: number) =>
  new EtcdClient({ endpoints, ca: null, cert: null, key: null, username, password: username }, start);
const hanging = () => clientOf([`http://127.0.0.1:${(server.address() as AddressInfo).port}`]);

test('closing the client ends the calls under way, whatever time they have left, and refuses every later one', async () => {
  const client = hanging();
  const calls = [
    client.range({ key }, 3_600_000),
    client.keepAlive('7', 3_600_000),
    client.defragment(0),
    client.status(0),
  ].map(rejection);
  const watched = new Promise((ended) =>
    client.watch({ key, rangeEnd: Buffer.from('b'), revision: '1' }, () => undefined, ended),
  );
  await new Promise((resolve) => setImmediate(resolve));
  client.close();
  for (const cause of await Promise.all(calls)) assert.instance(cause, SharedLogUnavailableError);
  await watched;
  for (const later of [client.put({ key, value: key }), client.defragment(0)])
    assert.instance(await rejection(later), SharedLogUnavailableError);
});

test('a pause between two attempts keeps the process, which otherwise ends without a word', async () => {
  const waits = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
  const before = waits();
  const paused = hanging().pause(5);
  assert.is(waits(), before + 1);
  await paused;
});

type Stream = ServerDuplexStream<object, object>;
type Answer = (error: object | null, value?: object) => void;

const unary: readonly MethodName[] = ['KV.Range', 'KV.Put', 'KV.Txn', 'KV.Compact', 'Lease.LeaseGrant'];
const others: readonly MethodName[] = ['Lease.LeaseRevoke', 'Maintenance.Status', 'Maintenance.Defragment'];

/** A member that answers each call with the next of `codes`, or else with success. */
class Member {
  readonly asked: (readonly [name: string, request: object, token?: string])[] = [];
  readonly streams: Stream[] = [];
  codes: status[] = [];
  /** Answers a stream's first request. */
  onStream: (stream: Stream) => void = () => undefined;
  readonly #server = new Server();

  async start(): Promise<string> {
    for (const name of [...unary, ...others, 'Auth.Authenticate'] as MethodName[]) {
      const handle = ({ request, metadata }: { request: object; metadata: Metadata }, answer: Answer) => {
        const code = name === 'Auth.Authenticate' ? status.OK : this.#hear(name, request, metadata);
        if (name === 'Auth.Authenticate') this.asked.push([name, request]);
        if (code === status.OK) answer(null, { token: `token ${this.asked.length}`, version: '3' });
        else answer({ code, details: 'refused by the test' });
      };
      this.#server.addService({ handle: methodOf(name) }, { handle });
    }
    for (const name of ['Lease.LeaseKeepAlive', 'Watch.Watch'] as const) {
      const handle = (stream: Stream) => {
        stream.on('error', () => undefined);
        stream.once('data', (request: object) => {
          const code = this.#hear(name, request, stream.metadata);
          if (code !== status.OK) return stream.emit('error', { code, details: 'refused by the test' });
          this.streams.push(stream);
          return this.onStream(stream);
        });
      };
      this.#server.addService({ handle: methodOf(name) }, { handle });
    }
    const credentials = ServerCredentials.createInsecure();
    return new Promise((resolve, reject) => {
      this.#server.bindAsync('127.0.0.1:0', credentials, (error, port) =>
        error === null ? resolve(`http://127.0.0.1:${port}`) : reject(error),
      );
    });
  }

  #hear(name: MethodName, request: object, metadata: Metadata): status {
    const [token] = metadata.get('token');
    this.asked.push(token === undefined ? [name, request] : [name, request, String(token)]);
    return this.codes.shift() ?? status.OK;
  }

  /** Returns the names of the calls since the last time. */
  calls(): string[] {
    return this.asked.splice(0).map(([name]) => name);
  }

  stop(): void {
    this.#server.forceShutdown();
  }
}

/** Runs with a client of two members. No attempt ends by its time, so that a slow machine asks the same members. */
async function withMembers(
  run: (client: EtcdClient, first: Member, second: Member) => Promise<void>,
  { username = null as string | null, start = 0 } = {},
): Promise<void> {
  const [first, second] = [new Member(), new Member()];
  const endpoints = [await first.start(), await second.start()];
  const client = clientOf(endpoints, username, start);
  try {
    await withBounds({ etcdTryMs: 60_000, etcdCallMs: 60_000 }, () => run(client, first, second));
  } finally {
    client.close();
    for (const member of [first, second]) member.stop();
  }
}

const codeIn = async (call: Promise<unknown>) => ((await rejection(call)) as { code?: status } | undefined)?.code;

test('an outage of a member is met at the next one, and any other error is the answer', () =>
  withMembers(async (client, first, second) => {
    const { UNAVAILABLE, DEADLINE_EXCEEDED, CANCELLED, INTERNAL, UNKNOWN, ABORTED } = status;
    const outages = [UNAVAILABLE, DEADLINE_EXCEEDED, CANCELLED, INTERNAL, UNKNOWN, ABORTED];
    for (let code = status.OK; code <= status.UNAUTHENTICATED; code += 1) {
      first.codes = [code];
      client.prefer(0);
      const isOutage = outages.includes(code);
      const cause = code === status.OK || isOutage ? undefined : code;
      assert.is(await codeIn(client.range({ key }, 60_000)), cause, status[code]);
      assert.is(second.calls().length, isOutage ? 1 : 0, status[code]);
    }
  }));

test('an outage of every member is one of the shared log once the time of the call is over', () =>
  withMembers(async (client, ...members) => {
    for (const member of members) member.codes = Array<status>(1_000).fill(status.UNAVAILABLE);
    // A machine that pauses may use up the time of a call at one member, and the next call begins at the other one.
    await until(async () => {
      assert.instance(await rejection(client.range({ key }, 3 * limits.etcdRetryMs)), SharedLogUnavailableError);
      return members.every(({ asked }) => asked.length > 0);
    });
  }));

test('a call that every member refused at once is tried again after a pause, and at the next member without', () =>
  withMembers(async (client, ...members) => {
    const pauses: string[] = [];
    const tries = () => members.reduce((count, { asked }) => count + asked.length, 0);
    client.pause = async (ms) => void pauses.push(`${ms} ms after ${tries()} tries`);
    for (const member of members) member.codes = [status.UNAVAILABLE, status.UNAVAILABLE];
    await client.range({ key }, 60_000);
    assert.equal(
      pauses,
      [2, 4].map((count) => `${limits.etcdRetryMs} ms after ${count} tries`),
    );
  }));

test('an error that an earlier attempt explains is a success, and a full database is an outage of the log', () =>
  withMembers(async (client, first) => {
    const { OUT_OF_RANGE, FAILED_PRECONDITION, NOT_FOUND, RESOURCE_EXHAUSTED, INVALID_ARGUMENT } = status;
    const calls: readonly (readonly [call: () => Promise<unknown>, meant: status | null, isWrite: boolean])[] = [
      [() => client.compact('7'), OUT_OF_RANGE, false],
      [() => client.grantLease('5', 9), FAILED_PRECONDITION, false],
      [() => client.revokeLease('5'), NOT_FOUND, true],
      [() => client.put({ key, value: key }), null, true],
      [() => client.txn({ compare: [], success: [] }), null, true],
      [() => client.range({ key }), null, false],
    ];
    for (const [call, meant, isWrite] of calls) {
      for (const code of [OUT_OF_RANGE, FAILED_PRECONDITION, NOT_FOUND, RESOURCE_EXHAUSTED, INVALID_ARGUMENT]) {
        first.codes = [code];
        const error = await rejection(call());
        const what = `${String(call)} ${status[code]}`;
        if (code === meant) assert.is(error, undefined, what);
        else if (code === RESOURCE_EXHAUSTED && isWrite) assert.instance(error, SharedLogUnavailableError, what);
        else assert.is((error as { code: status }).code, code, what);
      }
    }
    const requests = new Map(first.asked.map(([name, request]) => [name, request]));
    assert.equal(requests.get('KV.Compact'), { revision: '7', physical: true });
    assert.equal(requests.get('Lease.LeaseGrant'), { TTL: '9', ID: '5' });
    assert.equal(requests.get('Lease.LeaseRevoke'), { ID: '5' });
  }));

test('a write whose lease has ended resolves to nothing', async () => {
  const failed = (code: status) => Promise.reject(Object.assign(new Error('x'), { code }));
  assert.is(await withLease(Promise.resolve(1)), 1);
  assert.is(await withLease(failed(status.NOT_FOUND)), null);
  assert.is(await codeIn(withLease(failed(status.UNAVAILABLE))), status.UNAVAILABLE);
  assert.is(await codeIn(withLease(failed('5' as unknown as status))), '5');
});

test('calls go to the member that answered last, to the preferred one, or past one that seems to hang', () =>
  withMembers(
    async (client, first, second) => {
      const heard = async () => {
        await client.range({ key });
        return [first.calls().length, second.calls().length];
      };
      assert.equal(await heard(), [0, 1], 'the third client begins with the second member of two');
      client.rotate();
      assert.equal(await heard(), [1, 0]);
      first.codes = [status.UNAVAILABLE];
      assert.equal(await heard(), [1, 1]);
      assert.equal(await heard(), [0, 1], 'and stays there');
      client.prefer(0);
      assert.equal(await heard(), [1, 0]);
      client.prefer(null);
      assert.equal(await heard(), [0, 1]);
      await client.status(0);
      await client.defragment(1);
      assert.equal([first.calls(), second.calls()], [['Maintenance.Status'], ['Maintenance.Defragment']]);
      first.codes = [status.UNAVAILABLE, status.INVALID_ARGUMENT];
      assert.instance(await rejection(client.status(0)), SharedLogUnavailableError);
      assert.is(await codeIn(client.status(0)), status.INVALID_ARGUMENT);
    },
    { start: 3 },
  ));

test('a token is asked for once, and once more at the same member if etcd refuses it', () =>
  withMembers(
    async (client, first, second) => {
      const auth = ['Auth.Authenticate', { name: 'u', password: 'u' }] as const;
      const tokens = () => first.asked.splice(0).map(([name, , token]) => token ?? name);
      await client.range({ key });
      assert.equal(first.asked[0], auth);
      await client.range({ key });
      assert.equal(tokens(), ['Auth.Authenticate', 'token 1', 'token 1']);
      first.codes = [status.UNAUTHENTICATED];
      await client.range({ key });
      assert.equal(tokens(), ['token 1', 'Auth.Authenticate', 'token 2']);
      // etcd's code for a token, or a call in progress, from before a change of its users or roles.
      first.codes = [status.INVALID_ARGUMENT];
      await client.range({ key });
      assert.equal(tokens(), ['token 2', 'Auth.Authenticate', 'token 2']);
      first.codes = Array<status>(3).fill(status.INVALID_ARGUMENT);
      await Promise.all(Array.from({ length: 3 }, () => client.range({ key })));
      const asked = tokens().filter((text) => text.startsWith('A'));
      assert.is(asked.length, 1, 'calls at the same time share the next token');
      // Several changes of users in a row, and a member that refuses every token.
      first.codes = Array<status>(4).fill(status.INVALID_ARGUMENT);
      await client.range({ key });
      first.codes = Array<status>(5).fill(status.UNAUTHENTICATED);
      assert.is(await codeIn(client.range({ key })), status.UNAUTHENTICATED);
      tokens();
      first.codes = [status.UNAUTHENTICATED];
      assert.instance(await rejection(client.status(0)), SharedLogUnavailableError);
      assert.equal(tokens().filter((text) => text.startsWith('A')).length, 1);
      await client.status(0);
      assert.equal([tokens()[0], second.calls()], ['Auth.Authenticate', []]);
    },
    { username: 'u' },
  ));

test('a client without a user asks for no token, and an unauthenticated call is its own error', () =>
  withMembers(async (client, first) => {
    first.codes = [status.UNAUTHENTICATED, status.UNAUTHENTICATED];
    assert.is(await codeIn(client.range({ key })), status.UNAUTHENTICATED);
    assert.is(await codeIn(client.status(0)), status.UNAUTHENTICATED);
    assert.equal(first.calls(), ['KV.Range', 'Maintenance.Status']);
  }));

test('a renewal gives the seconds that are left, at another member if one ends the call without an answer', () =>
  withMembers(async (client, first, second) => {
    first.onStream = (stream) => stream.end();
    second.onStream = (stream) => stream.write({ ID: '5', TTL: '9' });
    assert.is(await client.keepAlive('5', 60_000), 9);
    assert.equal([first.asked.length, second.asked], [1, [['Lease.LeaseKeepAlive', { ID: '5' }]]]);
    second.onStream = (stream) => stream.write({ ID: '5', TTL: '0' });
    assert.is(await client.keepAlive('5', 60_000), 0);
  }));

test('a watch hears each answer until it is stopped, and a member that ends it is avoided', () =>
  withMembers(async (client, first, second) => {
    const range = { key, rangeEnd: Buffer.from('b'), revision: '7' };
    const watched = async (act: (stream: Stream, stop: () => void) => void, isOver: (stream: Stream) => boolean) => {
      client.prefer(0);
      const [heard, ends] = [[] as string[], [] as unknown[]];
      const count = first.streams.length;
      const stop = client.watch(
        range,
        ({ header }) => heard.push(header.revision),
        (error) => ends.push(error),
      );
      await until(() => first.streams.length > count);
      const { create_request: created } = first.asked.at(-1)![1] as { create_request: object };
      assert.equal({ ...created }, { ...created, key, range_end: range.rangeEnd, start_revision: '7' });
      const stream = first.streams.at(-1)!;
      stream.write({ header: { revision: '8' } });
      await until(() => heard.length === 1);
      act(stream, stop);
      await until(() => isOver(stream) || ends.length > 0);
      first.calls();
      await client.range({ key });
      return { heard, ends, isAvoided: second.calls().length === 1 };
    };
    const stop = (_stream: Stream, end: () => void) => end();
    const stopped = await watched(stop, ({ cancelled }) => cancelled);
    assert.equal(stopped, { heard: ['8'], ends: [], isAvoided: false });
    const acts: readonly ((stream: Stream) => void)[] = [
      (stream) => {
        stream.write({ header: { revision: '9' }, canceled: true });
        stream.write({ header: { revision: '10' } });
      },
      (stream) => stream.end(),
      (stream) => stream.emit('error', { code: status.INTERNAL, details: 'etcd ended the watch' }),
    ];
    for (const act of acts) {
      const { heard, ends, isAvoided } = await watched(act, () => false);
      assert.equal([heard, ends.length, isAvoided], [['8'], 1, true]);
      assert.match(String(ends[0]), /etcd ended the watch/);
    }
    first.calls();
    client.prefer(0);
    const nothing = () => undefined;
    client.watch(range, nothing, nothing)();
    client.prefer(0);
    await client.range({ key });
    assert.equal(first.calls(), ['KV.Range'], 'a watch that is stopped at once is not begun');
  }));

test.run();
