/** The model of etcd answers a recorded list of calls as a real etcd does. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { EtcdMembers, noEtcd } from '../../../bench/cluster/etcd-members.js';
import { SharedLogUnavailableError } from '../../../src/group/ports/shared-log.js';
import { codeOf, EtcdClient } from '../../../src/store/etcd/etcd-client.js';
import type { EtcdCalls } from '../../../src/store/etcd/etcd-log.js';
import type {
  Compare,
  KeyValue,
  RangeResponse,
  RequestOp,
  WatchResponse,
} from '../../../src/store/etcd/etcd-messages.js';
import { Random } from '../../support/random.js';
import { until } from '../../support/until.js';
import { VirtualTime } from '../../support/virtual-time.js';
import { EtcdModel, ModelClient } from './etcd-model.js';
import { goodLink } from './faults.js';

const calls = 600;
const keys = 10;
const quotaBytes = 2 * 1024 * 1024;
/** Long enough to end with the test. */
const ttlS = 600;
const why = noEtcd();

const key = (number: number) => Buffer.from(`/r/${number}`);
const end = Buffer.from('/r0');

/** One of the two etcds under comparison. `wait` lets its time pass; revisions are counted from its first one. */
class Side {
  readonly client: EtcdCalls;
  readonly #wait: <T>(promise: Promise<T>) => Promise<T>;
  #first = 0;

  constructor(client: EtcdCalls, wait: <T>(promise: Promise<T>) => Promise<T>) {
    this.client = client;
    this.#wait = wait;
  }

  async begin(): Promise<void> {
    const { header } = await this.#wait(this.client.range({ key: key(0) }));
    this.#first = Number(header.revision);
  }

  revision(text: string): number {
    return text === '0' ? 0 : Number(text) - this.#first;
  }

  text(revision: number): string {
    return String(revision + this.#first);
  }

  /** Returns what a call answers, or the code of its error. */
  async answer(call: (side: Side) => Promise<unknown>): Promise<unknown> {
    try {
      return (await this.#wait(call(this))) ?? 'done';
    } catch (error) {
      // A full database is unavailable, whatever the call.
      const code = codeOf(error) ?? (error instanceof SharedLogUnavailableError ? codeOf(error.cause) : undefined);
      if (code === undefined) throw error;
      return { code };
    }
  }

  kv({ key: name, value, create_revision: created, mod_revision: modified, lease }: KeyValue) {
    const at = [this.revision(created), this.revision(modified)];
    return [name.toString(), value.toString(), ...at, lease];
  }

  range({ kvs, more, count }: RangeResponse) {
    return { kvs: kvs.map((kv) => this.kv(kv)), more, count };
  }

  events({ events }: WatchResponse) {
    return events.map(({ type, kv }) => [type, ...this.kv(kv)]);
  }
}

/** Draws a call; the same random numbers draw the same one. */
function drawCall(random: Random): (side: Side) => Promise<unknown> {
  const any = () => key(random.below(keys));
  const value = Buffer.from(`value ${random.below(1_000)}`);
  const lease = String(1 + random.below(5));
  switch (random.pick(['put', 'put', 'leased', 'range', 'txn', 'txn', 'txn', 'compact', 'grant', 'revoke', 'renew'])) {
    case 'put': {
      const request = { key: any(), value };
      return async ({ client }) => void (await client.put(request));
    }
    case 'leased': {
      const request = { key: any(), value, lease };
      return async ({ client }) => void (await client.put(request));
    }
    case 'range': {
      const request = { key: any(), range_end: end, limit: random.below(5), keys_only: random.below(2) === 0 };
      return async (side) => side.range(await side.client.range(request));
    }
    case 'txn':
      return drawTxn(random, any, value, lease);
    case 'compact': {
      const revision = random.below(calls);
      return (side) => side.client.compact(side.text(revision));
    }
    case 'grant':
      return ({ client }) => client.grantLease(lease, ttlS);
    case 'revoke':
      return ({ client }) => client.revokeLease(lease);
    default:
      return ({ client }) => client.keepAlive(lease, 2_000);
  }
}

function drawTxn(random: Random, any: () => Buffer, value: Buffer, lease: string): (side: Side) => Promise<unknown> {
  const compared = any();
  const created = random.below(calls);
  const kind = random.below(7);
  const compare = (side: Side): Compare[] => {
    if (kind === 0) return [];
    if (kind === 4) return [{ key: compared, result: 'EQUAL', target: 'LEASE', lease }];
    if (kind === 1) return [{ key: compared, result: 'EQUAL', target: 'VALUE', value }];
    if (kind > 4)
      return [{ key: compared, result: 'EQUAL', target: 'MOD', mod_revision: kind === 5 ? '0' : side.text(created) }];
    const revision = kind === 2 ? '0' : side.text(created);
    return [{ key: compared, result: resultOf(created), target: 'CREATE', create_revision: revision }];
  };
  const put = { key: key(random.below(5)), value, ...(random.below(4) === 0 ? { lease } : {}) };
  const from = 5 + random.below(3);
  // etcd refuses a transaction that writes a key twice.
  const deleted = { key: key(from), range_end: key(from + random.below(3)) };
  const all: RequestOp[] = [
    { request_put: put },
    { request_delete_range: random.below(2) === 0 ? { key: deleted.key } : deleted },
    { request_range: { key: any() } },
    { request_range: { key: key(0), range_end: end, limit: random.below(4) } },
  ];
  const [success, failure] = [0, 1].map(() => all.filter(() => random.below(2) === 0)) as [RequestOp[], RequestOp[]];
  return async (side) => {
    const answer = await side.client.txn({ compare: compare(side), success, failure });
    const ranges = answer.responses.map(({ response_range: found }) => (found ? side.range(found) : null));
    return { revision: side.revision(answer.header.revision), succeeded: answer.succeeded, ranges };
  };
}

const resultOf = (number: number) => (number % 2 === 0 ? 'EQUAL' : 'GREATER') as 'EQUAL' | 'GREATER';

function modelSide(): { readonly model: EtcdModel; readonly side: Side; readonly time: VirtualTime } {
  const time = new VirtualTime();
  const random = new Random(1);
  const model = new EtcdModel(1, time, random, () => undefined);
  const link = { ...goodLink, isCut: false };
  return { model, time, side: new Side(new ModelClient(model, 'n0', 0, link, time), (promise) => time.wait(promise)) };
}

function realSide(members: EtcdMembers): { readonly client: EtcdClient; readonly side: Side } {
  const settings = { endpoints: members.endpoints, ca: null, cert: null, key: null, username: null, password: null };
  const client = new EtcdClient(settings);
  return { client, side: new Side(client, (promise) => promise) };
}

if (why !== undefined) {
  process.stdout.write(`SKIPPED: ${why}\n`);
  test.skip('the model against a real etcd', () => undefined);
} else {
  for (const seed of [1, 2, 3]) {
    test(`the model answers ${calls} recorded calls of seed ${seed} as a real etcd does, and watches agree`, async () => {
      const members = await EtcdMembers.start({ count: 1 });
      const { client, side: real } = realSide(members);
      const { side: model, time } = modelSide();
      try {
        const heard: unknown[][] = [[], []];
        for (const [i, side] of [real, model].entries()) {
          await side.begin();
          const from = { key: key(0), rangeEnd: end, revision: side.text(1) };
          side.client.watch(
            from,
            (response) => heard[i]!.push(...side.events(response)),
            () => undefined,
          );
        }
        for (let i = 0; i < calls; i++) {
          const [realCall, modelCall] = [0, 1].map(() => drawCall(new Random(seed * 10_000 + i)));
          const expected = await real.answer(realCall!);
          assert.equal(await model.answer(modelCall!), expected, `call ${i}`);
          // The watch of the model hears of the change before a compaction may forget it.
          await time.wait(new Promise<void>((resolve) => void time.later(resolve, 10)));
        }
        await until(() => heard[0]!.length >= heard[1]!.length);
        assert.equal(heard[1], heard[0]);
        // A watch from a revision that was compacted ends.
        const { header } = await client.range({ key: key(0) });
        await client.compact(header.revision);
        await new Promise((ended) =>
          client.watch({ key: key(0), rangeEnd: end, revision: real.text(1) }, () => undefined, ended),
        );
        await model.answer((side) => side.client.compact(side.text(real.revision(header.revision))));
        await time.wait(
          new Promise((ended) =>
            model.client.watch({ key: key(0), rangeEnd: end, revision: model.text(1) }, () => undefined, ended),
          ),
        );
      } finally {
        client.close();
        await members.stop();
      }
    });
  }

  test('a full database refuses what needs room, and a deletion does not', async () => {
    const members = await EtcdMembers.start({ count: 1, quotaBytes });
    const { client, side: real } = realSide(members);
    const { side: model, model: etcd } = modelSide();
    try {
      for (const side of [real, model]) {
        await side.begin();
        await side.answer(({ client }) => client.grantLease('1', ttlS));
      }
      const ballast = { key: Buffer.from('/ballast'), value: Buffer.alloc(400_000) };
      while ((await real.answer(async ({ client }) => void (await client.put(ballast)))) === 'done');
      etcd.store.isFull = true;
      const put = { request_put: { key: key(1), value: Buffer.from('x') } };
      const remove = { request_delete_range: { key: key(1) } };
      const probes: ((side: Side) => Promise<unknown>)[] = [
        async ({ client }) => void (await client.put({ key: key(1), value: Buffer.from('x') })),
        async ({ client }) => (await client.txn({ compare: [], success: [put] })).succeeded,
        async ({ client }) => (await client.txn({ compare: [], success: [remove], failure: [put] })).succeeded,
        async ({ client }) => (await client.txn({ compare: [], success: [remove] })).succeeded,
        ({ client }) => client.grantLease('2', ttlS),
        ({ client }) => client.keepAlive('1', 2_000),
        ({ client }) => client.revokeLease('1'),
        async (side) => side.range(await side.client.range({ key: key(1) })),
      ];
      for (const [i, probe] of probes.entries()) {
        assert.equal(await model.answer(probe), await real.answer(probe), `probe ${i}`);
      }
    } finally {
      client.close();
      await members.stop();
    }
  });
}

test.run();
