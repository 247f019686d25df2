/**
 * Repeated events of a peer are one piece of evidence: through turns, batches, the log, snapshots, erasure and
 * retention.
 */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { EventSubmission, RepeatFound } from '../../src/core/commands.js';
import { stateDigest } from '../../src/core/snapshot/state-digest.js';
import type { Outcome } from '../../src/errors.js';
import type { Command, Located, RepeatsUnknown } from '../../src/group/actor-commands.js';
import { RecordReader, readRepeats } from '../../src/group/listing/listing.js';
import type { ChainPlace, RepeatsPiece } from '../../src/group/ports/pool.js';
import { bounds, hourMs, subjectKeyOf, subjectOf, t0 } from '../support/given.js';
import { MemoryLog } from '../support/memory-log.js';
import { Machine } from './machine.js';

let sent = 0;

function event(more: Partial<EventSubmission> & { readonly peer?: number; readonly player?: string } = {}) {
  const { peer = 0, player = 'p', ...rest } = more;
  return {
    schemaVersion: '1.0.0',
    eventId: `event-${sent++}`,
    eventType: 'report_cheating',
    peerId: `peer-${peer}`,
    subject: subjectKeyOf(player),
    gameId: 'g1',
    severity: 1,
    timestamp: t0,
    ...rest,
  } as const;
}

const submit = (...events: EventSubmission[]): Command => ({ type: 'submit', caller: null, events });

async function started(): Promise<Machine> {
  const machine = await Machine.start(new MemoryLog(), { ...bounds, erasureQuotaPerDay: 1000 });
  for (let i = 0; i < 2; i++) {
    const peer = { peerId: `peer-${i}`, peerName: 'P', gameIds: ['g1'], keyDigest: `key-${i}`, by: 't' };
    await machine.ask(`register ${i}`, { type: 'register', ...peer });
  }
  return machine;
}

async function send(machine: Machine, ...events: EventSubmission[]): Promise<void> {
  const answer = await machine.ask(`send ${sent}`, submit(...events));
  assert.ok((answer as Outcome<unknown>[]).every(({ ok }) => ok));
}

/** Lowering claims and bans of a peer on a player, decayed to t0, and how many events it is made of. */
function held({ actor: { state } }: Machine, peer = 0, player = 'p'): readonly [lowering: number, count: number] {
  const { subjects } = state;
  const row = subjects.find(subjectOf(player));
  const entry = row < 0 ? -1 : subjects.findEntry(row, peer);
  const { entries } = subjects;
  return entry < 0 ? [0, 0] : [entries.lowering(entry) + entries.measure(entry), entries.count(entry)];
}

async function withdraw(machine: Machine, eventId: string): Promise<void> {
  const located = (await machine.ask(`locate ${sent++}`, { type: 'locate', eventId })) as Located;
  const answer = await machine.ask(`withdraw ${sent++}`, machine.withdrawal(null, located));
  assert.ok((answer as Outcome<unknown>).ok);
}

test('an event with the same content counts once, in one batch, in one turn and over turns', async () => {
  const machine = await started();
  await send(machine, event({ severity: 0.5 }), event(), event());
  assert.equal(held(machine), [0.5, 3]);
  await send(machine, event());
  assert.equal(held(machine), [0.5, 4]);
  const other = await started();
  other.offer('one', submit(event()));
  other.offer('two', submit(event()));
  await other.work();
  assert.equal(held(other), [1, 2]);
});

test('a repeat of an event that this process decided is known without the log, until the event is gone', async () => {
  const machine = await started();
  const asks = async (token: string): Promise<boolean> => {
    machine.offer(token, submit(event()));
    await machine.work();
    return !Array.isArray(machine.answers.get(token));
  };
  const first = event();
  await send(machine, first);
  for (let i = 0; i < 3; i++) assert.is(await asks(`repeats ${i}`), false);
  assert.equal(held(machine), [1, 4]);
  machine.restart();
  assert.is(await asks('after a restart'), true, 'only the log knows');
  await send(machine, event());
  assert.is(await asks('read once'), false);
  await machine.ask('erase', { type: 'erase', caller: -2, subject: subjectOf('p'), commitment: 'c', by: 't' });
  // The next player may get the row of the erased one.
  await send(machine, event({ player: 'q' }));
  assert.equal(held(machine, 0, 'q'), [1, 1]);
  assert.is(await asks('erased'), false);
  assert.equal(held(machine), [1, 1], 'nothing is left that it could repeat');
});

test('a withdrawn event is not repeated, however recent it is', async () => {
  const machine = await started();
  const [first, second] = [event({ severity: 0.5 }), event()];
  await send(machine, first);
  await withdraw(machine, first.eventId);
  await send(machine, second);
  assert.equal(held(machine), [1, 1]);
  await send(machine, event({ severity: 0.25 }));
  assert.equal(held(machine), [1, 2]);
});

test('another type, time, peer or player is different content', async () => {
  const machine = await started();
  await send(machine, event());
  await send(machine, event({ eventType: 'ban_applied' }), event({ timestamp: t0 - 1 }), event({ peer: 1 }));
  await send(machine, event({ player: 'q' }));
  const near = ([lowering]: readonly number[], expected: number) => assert.ok(Math.abs(lowering! - expected) < 1e-6);
  near(held(machine), 3);
  near(held(machine, 1), 1);
  near(held(machine, 0, 'q'), 1);
});

test('a lifting is not evidence: each one cancels', async () => {
  const machine = await started();
  const lifting = () => event({ eventType: 'ban_lifted' });
  await send(machine, event(), lifting());
  await send(machine, event({ timestamp: t0 - hourMs }));
  await send(machine, lifting());
  assert.equal(held(machine), [0, 4]);
});

test('an event whose id is stored is a duplicate at once', async () => {
  const machine = await started();
  const first = event();
  await send(machine, first);
  machine.offer('again', submit(first));
  await machine.work();
  assert.is((machine.answers.get('again') as { code: string }[])[0]!.code, 'duplicate_event');
});

test('no part of a submission is accepted before the log was read, or after the pair changed', async () => {
  const machine = await started();
  await send(machine, event());
  machine.restart();
  const command = submit(event({ player: 'q' }), event());
  machine.offer('first', command, 2);
  await machine.work();
  const unknown = machine.answers.get('first') as RepeatsUnknown;
  assert.equal(held(machine, 0, 'q'), [0, 0]);
  const { found } = readRepeats(new RecordReader(machine.log), { ...unknown, from: null, holder: null });
  assert.ok(found[0]!.seq > 0);
  await send(machine, event({ timestamp: t0 - hourMs }));
  const checked = found;
  machine.offer('late', { ...command, checked } as Command, 2);
  await machine.work();
  assert.is((machine.answers.get('late') as RepeatsUnknown).type, 'repeats_unknown');
  await machine.ask('erase', { type: 'erase', caller: -2, subject: subjectOf('p'), commitment: 'c', by: 't' });
  machine.offer('erased', { ...command, checked } as Command, 2);
  await machine.work();
  assert.equal(held(machine), [1, 1]);
});

test('that nothing is repeated stays true while the pair goes on changing, until the same event comes', async () => {
  const machine = await started();
  const earlier = t0 - hourMs;
  const asked = async (token: string, checked?: readonly RepeatFound[]) => {
    const command = { ...submit(event({ timestamp: earlier, severity: 0.5 })), ...(checked && { checked }) } as Command;
    machine.offer(token, command);
    await machine.work();
    return machine.answers.get(token);
  };
  await send(machine, event({ timestamp: earlier }));
  await withdraw(machine, `event-${sent - 1}`);
  await send(machine, event());
  const unknown = (await asked('asks')) as RepeatsUnknown;
  const { found } = readRepeats(new RecordReader(machine.log), { ...unknown, from: null, holder: null });
  assert.equal([found.length, found[0]!.seq], [1, 0]);
  for (let i = 1; i < 9; i++) await send(machine, event({ timestamp: t0 - i }));
  assert.ok(Array.isArray(await asked('late', found)));
  const before = held(machine);
  assert.ok(Array.isArray(await asked('later still', found)), 'the first one is known without the log');
  assert.equal(held(machine), [before[0], before[1] + 1]);
  machine.restart();
  assert.is(
    ((await asked('restarted', found)) as RepeatsUnknown).type,
    'repeats_unknown',
    'what came since is not known',
  );
});

test('an event in the name of another peer is refused at once, whatever that peer had sent', async () => {
  const machine = await started();
  await send(machine, event());
  machine.offer('foreign', { type: 'submit', caller: 1, events: [event()] });
  await machine.work();
  assert.is((machine.answers.get('foreign') as { code: string }[])[0]?.code, 'peer_id_mismatch');
});

test('all checks of one pair share a walk, however many they are', async () => {
  const machine = await started();
  const said = Array.from({ length: 300 }, (_, i) => event({ timestamp: t0 - i * hourMs }));
  await send(machine, ...said);
  const lowering = held(machine)[0];
  await send(machine, ...said.map(({ timestamp }) => event({ timestamp })));
  assert.equal(held(machine), [lowering, 600]);
});

test('checks beyond the reach of one read are continued by the next read, within a chain as well', async () => {
  const machine = await started();
  const players = ['p', 'q', 'r'];
  const said = players.flatMap((player) =>
    Array.from({ length: 5 }, (_, i) => event({ player, timestamp: t0 - i * hourMs })),
  );
  await send(machine, ...said);
  machine.restart();
  const deepest = players.map((player) => event({ player }));
  machine.offer('asks', submit(...deepest), 3);
  await machine.work();
  const unknown = machine.answers.get('asks') as RepeatsUnknown;
  assert.is(unknown.checks.length, 3);
  const answered = new Map<number, number>();
  let from: ChainPlace | null = null;
  const pieces: (readonly number[])[] = [];
  while (answered.size < 3) {
    const checks = unknown.checks.filter(({ index }) => !answered.has(index));
    const piece: RepeatsPiece = readRepeats(
      new RecordReader(machine.log),
      { ...unknown, checks, from, holder: null },
      4,
    );
    for (const { index, seq } of piece.found) answered.set(index, seq);
    from = piece.next;
    pieces.push(piece.found.map(({ index }) => index));
  }
  // 15 records in pieces of 4.
  assert.equal(pieces, [[], [0], [1], [2]]);
  assert.ok([...answered.values()].every((seq) => seq > 0));
});

test('withdrawing the first lets the next count, live, over a restart and from a snapshot', async () => {
  const machine = await started();
  const [first, second] = [event(), event({ severity: 0.5 })];
  await send(machine, first);
  await machine.snapshot();
  machine.restart();
  await send(machine, second);
  assert.equal(held(machine), [1, 2]);
  await withdraw(machine, first.eventId);
  assert.equal(held(machine), [0.5, 1]);
  const digest = stateDigest(machine.actor.state);
  machine.restart();
  assert.is(stateDigest(machine.actor.state), digest);
  await send(machine, event({ severity: 0.25 }));
  assert.equal(held(machine), [0.5, 2]);
  await withdraw(machine, second.eventId);
  assert.equal(held(machine), [0.25, 1]);
});

test('once all events with the same content are withdrawn, a new one counts', async () => {
  const machine = await started();
  const first = event();
  await send(machine, first);
  await withdraw(machine, first.eventId);
  await send(machine, event({ severity: 0.5 }));
  assert.equal(held(machine), [0.5, 1]);
});

test('an erasure forgets the content of events, and leaves the same state as a replay', async () => {
  const machine = await started();
  await send(machine, event());
  await machine.ask('erase', { type: 'erase', caller: -2, subject: subjectOf('p'), commitment: 'c', by: 't' });
  await send(machine, event({ severity: 0.5 }));
  assert.equal(held(machine), [0.5, 1]);
  const digest = stateDigest(machine.actor.state);
  machine.restart();
  assert.is(stateDigest(machine.actor.state), digest);
});

test('an event removed by age keeps its evidence, and is repeated only while an equal one exists', async () => {
  for (const isRepeated of [false, true]) {
    const machine = await started();
    machine.now = t0;
    await send(machine, event());
    machine.now = t0 + 2 * hourMs;
    if (isRepeated) await send(machine, event());
    await send(machine, event({ player: 'q' }));
    await machine.retire(t0 + hourMs);
    machine.restart();
    await send(machine, event({ severity: 0.5 }));
    assert.is(held(machine)[0], isRepeated ? 1 : 1.5);
  }
});

test.run();
