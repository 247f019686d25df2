/** The peers that asked in vain for an erasure learn the reason, and nobody else does. */
import { hash } from 'node:crypto';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { asksOf, type Values } from '../../../src/operations/table.js';
import { startTestNode } from '../../support/node.js';
import { type Frame, liveReader } from '../../support/stream-reader.js';
import { ask } from '../exchange.js';
import { newPlayer, type PeerClient, registerPeer } from '../peer-client.js';

const salt = 'a salt of sixteen bytes';
const reason = 'both servers banned the player';

test('a refused erasure tells its reason to the peer that asked, in the stream and beside its events', async () => {
  await using node = await startTestNode({ GROUP_SALT: salt, ERASURE_MODE: 'operator' });
  const [asking, other] = [await registerPeer(node.url, 'Asking'), await registerPeer(node.url, 'Other')];
  const player = newPlayer();
  for (const peer of [asking, other]) assert.is((await peer.submit({ player_id: player })).status, 201);
  const subject_hash = hash('sha256', player + salt, 'hex');
  const request = () => ask(node.url, `/api/v1/subjects/${subject_hash}`, { method: 'DELETE', key: asking.key });
  const refusalFor = async ({ key }: PeerClient) =>
    (await ask(node.url, `/api/v1/players/${player}/events`, { key })).body.erasure_refused;
  assert.is((await request()).status, 202);
  const operator = asksOf({ group: node.group, version: 'test', pseudonymise: () => null });
  const listed = async () => {
    const answer = await operator('erase-pending', { from: 0, limit: 10 });
    return (answer as { value: Values['erase-pending'] }).value.data;
  };
  const [pending] = await listed();
  assert.equal(
    pending?.requests.map((one) => [one.peer_id, one.peer_name, one.reason]),
    [[asking.peerId, 'Asking', 'operator_mode']],
  );
  assert.equal([pending?.evidence?.peers, pending?.evidence?.direction], [2, 'lowering']);
  await using reader = await liveReader(node.url, asking.key);
  await using foreign = await liveReader(node.url, other.key);
  const isNews = ({ event, data }: Frame): boolean =>
    event === 'change' && data.changes.some((row: object) => 'erasure_refused' in row);
  const notified = reader.next(isNews);
  assert.ok((await operator('erase-refuse', { subject_hash, reason, by: 'alice' })).ok);
  await notified;
  const { data } = reader.frames.find(isNews)!;
  assert.is(data.changes.find((row: object) => 'erasure_refused' in row).erasure_refused, reason);
  assert.is((await refusalFor(asking)).reason, reason);
  assert.is(await refusalFor(other), undefined);
  assert.equal(await listed(), []);
  await using again = await liveReader(node.url, asking.key);
  const rows = again.frames.flatMap((frame) => frame.data?.players ?? []);
  assert.is(rows.find((row: { subject_hash: string }) => row.subject_hash === subject_hash)?.erasure_refused, reason);
  assert.is(foreign.frames.some(isNews), false, 'another peer sees nothing');
  const { body } = await ask(node.url, '/api/v1/audit?limit=200', { key: other.key });
  const [entry] = body.data.filter(({ action }: { action: string }) => action === 'erasure_refused');
  assert.is(entry.actor, 'operator:alice');
  assert.not.match(JSON.stringify(body), new RegExp(`${reason}|${subject_hash}`));
  const exported = await node.group.exportSubject(Buffer.from(subject_hash, 'hex'), 'operator');
  assert.equal(exported.ok && exported.value.refusedErasures.map((one) => one.reason), [reason]);
  const twice = await operator('erase-refuse', { subject_hash, reason });
  assert.is(!twice.ok && twice.code, 'subject_not_found');
  assert.is((await request()).status, 202, 'the peer may ask again');
  assert.is(await refusalFor(asking), undefined);
});

test.run();
