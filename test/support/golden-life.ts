/**
 * A short life of a group that writes every type of record, as the content of the golden files of a format version. It
 * begins under the first version of scoring, so that its first bans are claims until the version changes. Run by hand
 * (`node build/test/support/golden-life.js`), it writes the missing files of the current version and replaces none.
 */
import { existsSync, writeFileSync } from 'node:fs';
import { argv } from 'node:process';
import { fileURLToPath } from 'node:url';
import type { EventTypeName } from '../../src/core/evidence/event-types.js';
import { SNAPSHOT_VERSION, snapshotBlocks } from '../../src/core/snapshot/snapshot.js';
import { stateDigest } from '../../src/core/snapshot/state-digest.js';
import type { Command, Located } from '../../src/group/actor-commands.js';
import { Machine } from '../group/machine.js';
import { bounds, dayMs, formedRecord, subjectKeyOf, subjectOf, t0 } from './given.js';
import { MemoryLog } from './memory-log.js';
import { weightsOf } from './weights.js';

/** Content of a golden file: stored bytes in base64, and the digest of the resulting state. */
export interface GoldenLog {
  readonly digest: string;
  readonly batches: readonly string[];
}

export interface GoldenSnapshot {
  readonly digest: string;
  readonly blocks: readonly { readonly key: string; readonly bytes: string }[];
}

export const goldenFolder = fileURLToPath(new URL('../../../test/fixtures/', import.meta.url));

export async function goldenLife(): Promise<Machine> {
  const { scoring: _scoring, ban_half_life_days: _days, ...formed } = formedRecord(30);
  const machine = await Machine.start(new MemoryLog(), bounds, formed);
  let asked = 0;
  const ask = (command: Command) => machine.ask(`${asked++}`, command);
  const submit = (peer: number, id: string, player: string, eventType: EventTypeName, severity: number) => {
    const fixed = { schemaVersion: '1.0.0', gameId: 'g2', timestamp: machine.now - dayMs };
    const event = { ...fixed, eventId: id, eventType, severity, peerId: `peer-${peer}`, subject: subjectKeyOf(player) };
    return ask({ type: 'submit', caller: peer, events: [event] });
  };
  for (let i = 0; i < 3; i++) {
    const peer = {
      peerId: `peer-${i}`,
      peerName: `Peer ${i}`,
      gameIds: ['g1', 'g2'],
      keyDigest: `key ${i}`,
      by: 'test',
    };
    await ask({ type: 'register', ...peer });
  }
  await ask({ type: 'pre_trust', change: 'add', peerId: 'peer-0', by: 'test' });
  for (let i = 0; i < 30; i++) {
    machine.now = t0 + i * dayMs;
    await submit(i % 3, `event-${i}`, `player ${i % 7}`, i % 4 === 0 ? 'commendation' : 'report_toxicity', i / 30);
  }
  await submit(0, 'event-old-ban', 'player 2', 'ban_applied', 0.75);
  await submit(1, 'event-old-ban-lifted', 'player 3', 'ban_applied', 1);
  await submit(1, 'event-old-lifting', 'player 3', 'ban_lifted', 1);
  await ask({ type: 'rotate_key', peerId: 'peer-1', keyDigest: 'new key', overlapMs: 1000, by: 'test' });
  const publicKey = 'JrQLj5P_89iXES9-vFgrIy29clF9CC_oPPsw3c5D0bs';
  await ask({ type: 'public_key', peerId: 'peer-1', publicKey, by: 'test' });
  const allowed = { until: t0 + 3500 * dayMs, note: 'appeal upheld', by: 'test' };
  await ask({ type: 'allow', subject: subjectOf('player 1'), id: 'entry-1', ...allowed });
  await ask({ type: 'allow', subject: subjectOf('player 5'), id: 'entry-2', ...allowed });
  await ask({ type: 'allow', subject: subjectOf('player 6'), id: 'entry-3', ...allowed });
  await ask({ type: 'disallow', subject: subjectOf('player 6'), by: 'test' });
  await ask({ type: 'peer_status', peerId: 'peer-2', status: 'suspended', by: 'test' });
  await ask({ type: 'scoring' });
  await ask({ type: 'relate_peers', relation: 'same', peerId: 'peer-2', otherId: 'peer-0', by: 'test' });
  await ask({ type: 'relate_peers', relation: 'independent', peerId: 'peer-0', otherId: 'peer-1', by: 'test' });
  const claims = { tau: [1, 0.5, 0], a: [1.4, 2, 0], b: [1.4, 1 / 3, 0], z: [0.75, 1 / 3, 0], witness: [0, 1, 0] };
  const measures = { m: [3.4, 3, 0], finds: [1, 0.6, 0], findsClaim: [0.9, 1 / 3, 0], measured: [1, 1, 0] };
  const based = { based_on_seq: machine.actor.durableSeq, computed_at: machine.now };
  await ask({ type: 'publish_weights', weights: { ...weightsOf(3, { ...claims, ...measures }), ...based } });
  await submit(1, 'event-second-ban', 'player 2', 'ban_applied', 1);
  await submit(1, 'event-after-ban', 'player 2', 'report_cheating', 0.5);
  await ask({ type: 'setting', name: 'HALF_LIFE_DAYS', value: 7, by: 'configuration' });
  await ask({ type: 'setting', name: 'BAN_HALF_LIFE_DAYS', value: 9, by: 'configuration' });
  await ask(machine.withdrawal(1, (await ask({ type: 'locate', eventId: 'event-10' })) as Located));
  await ask({ type: 'erase', caller: 0, subject: subjectOf('player 5'), commitment: 'commitment', by: 'peer:peer-0' });
  await machine.retire(t0 + 9 * dayMs);
  machine.now = t0 + 3000 * dayMs;
  await submit(0, 'event-ban', 'player 1', 'ban_applied', 1);
  await submit(0, 'event-late', 'player 1', 'ban_lifted', 1);
  await submit(0, 'event-clean', 'player 1', 'session_clean', 1);
  await ask({ type: 'origin', change: 'add', name: 'list', by: 'test' });
  for (const [peer, id] of [
    [0, 'event-carried-0'],
    [1, 'event-carried-1'],
  ] as const) {
    const labels = { schemaVersion: '1.1.0', origin: 'list', reference: `ticket ${peer} ☃` };
    const fixed = { gameId: 'g1', timestamp: machine.now, severity: 1, eventType: 'ban_applied' } as const;
    const event = { ...fixed, ...labels, eventId: id, peerId: `peer-${peer}`, subject: subjectKeyOf('player 1') };
    await ask({ type: 'submit', caller: peer, events: [event] });
  }
  await ask({ type: 'origin', change: 'remove', name: 'list', by: 'test' });
  const subject = subjectOf('player 1');
  const dispute = { caller: 1, subject, text: 'It was not me ☃', against: 'peer-0', by: 'peer-1' };
  await ask({ type: 'open_dispute', disputeId: 'dispute-1', ...dispute });
  await ask({ type: 'decide_dispute', decision: 'uphold', disputeId: 'dispute-1', peerIds: [], by: 'test' });
  await ask({ type: 'export_subject', subject, commitment: 'commitment', by: 'test' });
  return machine;
}

async function writeGolden(): Promise<void> {
  const { log, actor } = await goldenLife();
  const digest = stateDigest(actor.state);
  const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64');
  const stored = log.from(0, Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY);
  const files: Record<string, GoldenLog | GoldenSnapshot> = {
    'log-v6.json': { digest, batches: stored.map(({ bytes }) => base64(bytes)) },
    [`snapshot-v${SNAPSHOT_VERSION}.json`]: {
      digest,
      blocks: Array.from(snapshotBlocks(actor.state), ({ key, bytes }) => ({ key, bytes: base64(bytes) })),
    },
  };
  for (const [name, content] of Object.entries(files)) {
    const path = `${goldenFolder}${name}`;
    if (!existsSync(path)) writeFileSync(path, `${JSON.stringify(content, null, 1)}\n`);
  }
}

if (argv[1] === fileURLToPath(import.meta.url)) await writeGolden();
