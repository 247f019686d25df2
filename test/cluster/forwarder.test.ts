/** Commands that are sent to the leader in one request, and their answers. */
import { setImmediate as turn } from 'node:timers/promises';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { type CommandAnswer, Forwarder } from '../../src/cluster/forwarding.js';
import { type LinkCall, LinkError } from '../../src/cluster/link-client.js';
import { limits } from '../../src/limits.js';
import { timers } from '../../src/node/system.js';
import { rejectionAs } from '../store/log-contract.js';

interface Request {
  readonly call: LinkCall;
  readonly commands: readonly unknown[];
  answer(answer: Partial<CommandAnswer>): void;
  end(): void;
  fail(error: Error): void;
}

/** A forwarder to a leader that answers when the test says so. */
function forwarderOf() {
  const requests: Request[] = [];
  const lines = (call: LinkCall, use: (line: string) => void) =>
    new Promise<void>((end, fail) => {
      const commands = (call.body as string).split('\n').map((line) => JSON.parse(line));
      requests.push({ call, commands, answer: (answer) => use(JSON.stringify(answer)), end, fail });
    });
  return { forwarder: new Forwarder({ lines }, 'https://leader.example', timers), requests };
}

test('the commands of one turn share a request, and each is answered by its own line', async () => {
  const { forwarder, requests } = forwarderOf();
  const sent = [1, 2, 3].map((n) => forwarder.send({ n }));
  await turn();
  const [request] = requests;
  const { url, method, path, timeoutMs } = request!.call;
  assert.equal([url, method, path, timeoutMs], ['https://leader.example', 'POST', '/commands', limits.forwardMs]);
  assert.equal([requests.length, request!.commands], [1, [{ n: 1 }, { n: 2 }, { n: 3 }]]);
  request!.answer({ at: 2, value: 'third', seq: 5 });
  assert.is((await sent[2]!).value, 'third', 'the others are not decided yet');
  request!.answer({ at: 0, seq: 0, error: 'the disk' });
  const failure = await rejectionAs(LinkError, sent[0]!);
  assert.equal([failure.message, failure.isUnsent], ['https://leader.example: the disk', false]);
  request!.end();
  assert.not((await rejectionAs(LinkError, sent[1]!)).isUnsent, 'it has no answer, and may have been executed');
});

test('a request takes a bounded number of bytes, unless a single command has more', async () => {
  const { forwarder, requests } = forwarderOf();
  const text = 'a'.repeat(limits.clusterTurnBytes / 2 - 20);
  for (const n of [1, 2, 3]) void forwarder.send({ n, text });
  void forwarder.send({ n: 4, text: text + text + text });
  await turn();
  assert.equal(
    requests.map(({ commands }) => commands.length),
    [2, 1, 1],
  );
  for (const n of [5, 6]) void forwarder.send({ n, text });
  await turn();
  assert.is(requests.at(-1)!.commands.length, 2, 'the bound is that of one request');
});

test('a request that fails fails each of its commands that has no answer yet', async () => {
  const { forwarder, requests } = forwarderOf();
  const sent = [1, 2].map((n) => forwarder.send({ n }));
  await turn();
  requests[0]!.answer({ at: 0, value: 1, seq: 1 });
  requests[0]!.fail(new LinkError('lost', true));
  assert.is((await sent[0]!).value, 1);
  assert.ok((await rejectionAs(LinkError, sent[1]!)).isUnsent);
});

test('the commands of a leader that has gone are ended, also those that wait for the end of the turn', async () => {
  const { forwarder, requests } = forwarderOf();
  void forwarder.send({ n: 1 });
  await turn();
  void forwarder.send({ n: 2 });
  forwarder.abort();
  await turn();
  assert.equal(
    requests.map(({ call }) => call.signal!.aborted),
    [true, true],
  );
});

test.run();
