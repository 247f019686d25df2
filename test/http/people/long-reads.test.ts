/** Reads of players whom very many peers know: they take turns, and their answers are those of short reads. */
import { setImmediate as turnOfLoop } from 'node:timers/promises';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { Pseudonyms } from '../../../src/core/hashing/pseudonym.js';
import type { PeersApi } from '../../../src/group/api.js';
import { playerHandlers } from '../../../src/http/handlers/player-handlers.js';
import type { ApiReply, ApiRequest } from '../../../src/http/request/request.js';
import { ReadTurns } from '../../../src/http/room/read-turns.js';
import { limits } from '../../../src/limits.js';
import { subjectKeyOf, subjectOf } from '../../support/given.js';
import { startTestNode, weightsSettled } from '../../support/node.js';
import { ask } from '../exchange.js';
import { nodeDouble, peerView } from '../group-double.js';

test('a long match has the scores that single reads have, while other matches are answered', async () => {
  await using node = await startTestNode({});
  const registered = await Promise.all(
    Array.from({ length: limits.readEntriesAtOnce + 2 }, (_, i) =>
      node.group.register({ peerName: `peer ${i}`, gameIds: ['g'] }, 'test'),
    ),
  );
  const submit = async (index: number, player: string) => {
    const outcome = registered[index]!;
    if (!outcome.ok) throw new Error(outcome.code);
    const event = {
      schemaVersion: '1.0.0',
      eventId: `${index}-${player}`,
      eventType: 'report_cheating' as const,
      peerId: outcome.value.peer.peerId,
      subject: subjectKeyOf(player),
      gameId: 'g',
      severity: 1,
      timestamp: Date.now(),
    };
    const [decided] = await node.group.submit(outcome.value.peer, [event]);
    assert.ok(decided?.ok);
  };
  const known = ['known-1', 'known-2'];
  for (const player of known) await Promise.all(registered.map((_, i) => submit(i, player)));
  for (const [i, player] of ['a', 'b', 'c'].entries()) await submit(i, player);
  await weightsSettled(node);
  const hashOf = (player: string) => subjectOf(player).toString('hex');
  const single = async (player: string) => (await ask(node.url, `/api/v1/players/${hashOf(player)}/trust-score`)).body;
  const matches = [['a', 'known-1', 'b', 'known-2', 'known-1', 'c'], ['c', 'b', 'a'], ['b']];
  const match = (ids: readonly string[]) => ask(node.url, `/api/v1/trust-scores?ids=${ids.map(hashOf).join(',')}`);
  const answers = await Promise.all(matches.map(match));
  for (const [i, ids] of matches.entries()) {
    assert.equal(answers[i]?.body.data, await Promise.all(ids.map(single)), ids.join());
  }
  const { event_count } = await single('known-1');
  assert.is(event_count, registered.length);
});

/** The handlers of reads, each piece of which runs when the test says so. */
function handlersOf(group: Partial<PeersApi>) {
  const pending: (() => void)[] = [];
  const turns = new ReadTurns((run) => void pending.push(run));
  const deps = { node: nodeDouble(group), pseudonyms: new Pseudonyms('salt', 'privacy-first') };
  return { pending, ...playerHandlers(deps, turns) };
}

const requestOf = (more: object) => ({ query: '', caller: peerView(0), remote: {}, ...more }) as ApiRequest<undefined>;

test('a long match computes its next piece only when other work has had its turn', async () => {
  let pieces = 0;
  const trusts: PeersApi['trusts'] = (_, found) => {
    pieces++;
    found.push(undefined);
  };
  const { pending, getTrustScores } = handlersOf({ trusts });
  const answered = Promise.resolve(getTrustScores(requestOf({ query: 'ids=a,b,c,d' })));
  for (const expected of [1, 2, 3]) {
    await turnOfLoop();
    assert.is(pieces, expected);
    pending.shift()?.();
  }
  assert.is((await answered).status, 200);
});

test('a long read of one player waits for its turn, and a short one does not', async () => {
  let reads = 0;
  const group = { isLongRead: () => true, trust: () => void reads++ };
  const { pending, getTrustScore, getVerdict } = handlersOf(group);
  const request = requestOf({ params: { id: 'a' } });
  const answers = [getTrustScore, getVerdict].map((read) => Promise.resolve(read(request)));
  for (const expected of [0, 1, 2]) {
    await turnOfLoop();
    assert.is(reads, expected);
    pending.shift()?.();
  }
  for (const answer of answers) assert.is((await answer).status, 404);
  group.isLongRead = () => false;
  assert.is((handlersOf(group).getVerdict(request) as ApiReply).status, 404);
  assert.is(reads, 3);
});

test.run();
