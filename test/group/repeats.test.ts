/** Repeated events of a peer are one piece of evidence, over turns, batches, log, snapshots, erasure and retention. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { EventSubmission, RepeatFound } from '../../src/core/commands.js';
import { stateDigest } from '../../src/core/snapshot/state-digest.js';
import type { Command, RepeatsUnknown } from '../../src/group/actor-commands.js';
import { RecordReader, readRepeats } from '../../src/group/listing/listing.js';
import type { ChainPlace, RepeatsPiece } from '../../src/group/ports/pool.js';
import { bounds, hourMs, subjectOf, submissionOf, t0 } from '../support/given.js';
import { codeOf, codesOf, erase, submit } from './commands.js';
import { Machine } from './machine.js';

let sent = 0;

function event(more: Partial<EventSubmission> & { readonly peer?: number; readonly player?: string } = {}) {
  const { peer = 0, player = 'p', ...rest } = more;
  return submissionOf(`event-${sent++}`, player, { peerId: `peer-${peer}`, ...rest });
}

const started = () => Machine.withPeers(2, { ...bounds, erasureQuotaPerDay: 1000 });

/** Offers a command in a turn of its own, and returns its answer without reading the log for repeats. */
async function offered(machine: Machine, command: Command, events = 1) {
  const token = `offered ${sent++}`;
  machine.offer(token, command, events);
  await machine.work();
  return machine.answers.get(token);
}

const asksLog = (answer: unknown): answer is RepeatsUnknown =>
  (answer as RepeatsUnknown | undefined)?.type === 'repeats_unknown';

/** Reads what the log says to the questions of an answer. */
const foundIn = ({ log }: Machine, unknown: RepeatsUnknown) =>
  readRepeats(new RecordReader(log), { ...unknown, from: null, holder: null }).found;

const eraseFrom = (machine: Machine) => machine.ask(`erase ${sent++}`, erase('p'));

async function send(machine: Machine, ...events: EventSubmission[]): Promise<void> {
  const answer = await machine.ask(`send ${sent++}`, submit(...events));
  assert.equal([...new Set(codesOf(answer))], ['ok']);
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
  const command = machine.withdrawal(null, await machine.locate(eventId));
  assert.is(codeOf(await machine.ask(`withdraw ${sent++}`, command)), 'ok');
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
  const asks = async () => asksLog(await offered(machine, submit(event())));
  await send(machine, event());
  for (let i = 0; i < 3; i++) assert.is(await asks(), false);
  assert.equal(held(machine), [1, 4]);
  machine.restart();
  assert.is(await asks(), true, 'only the log knows');
  await send(machine, event());
  assert.is(await asks(), false);
  await eraseFrom(machine);
  // The next player may get the row of the erased one.
  await send(machine, event({ player: 'q' }));
  assert.equal(held(machine, 0, 'q'), [1, 1]);
  assert.is(await asks(), false);
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

test('no part of a submission is accepted before the log was read, or after the pair changed', async () => {
  const machine = await started();
  await send(machine, event());
  machine.restart();
  const command = submit(event({ player: 'q' }), event());
  const unknown = (await offered(machine, command, 2)) as RepeatsUnknown;
  assert.equal(held(machine, 0, 'q'), [0, 0]);
  const checked = foundIn(machine, unknown);
  assert.ok(checked[0]!.seq > 0);
  await send(machine, event({ timestamp: t0 - hourMs }));
  assert.ok(asksLog(await offered(machine, { ...command, checked } as Command, 2)));
  await eraseFrom(machine);
  await offered(machine, { ...command, checked } as Command, 2);
  assert.equal(held(machine), [1, 1]);
});

test('that nothing is repeated stays true while the pair goes on changing, until the same event comes', async () => {
  const machine = await started();
  const earlier = t0 - hourMs;
  const asked = (checked?: readonly RepeatFound[]) => {
    const command = submit(event({ timestamp: earlier, severity: 0.5 }));
    return offered(machine, { ...command, ...(checked && { checked }) } as Command);
  };
  const first = event({ timestamp: earlier });
  await send(machine, first);
  await withdraw(machine, first.eventId);
  await send(machine, event());
  const found = foundIn(machine, (await asked()) as RepeatsUnknown);
  assert.equal([found.length, found[0]!.seq], [1, 0]);
  for (let i = 1; i < 9; i++) await send(machine, event({ timestamp: t0 - i }));
  assert.equal(codesOf(await asked(found)), ['ok']);
  const before = held(machine);
  assert.equal(codesOf(await asked(found)), ['ok'], 'the first one is known without the log');
  assert.equal(held(machine), [before[0], before[1] + 1]);
  machine.restart();
  assert.ok(asksLog(await asked(found)), 'what came since is not known');
});

test('a stored id, and an event in the name of another peer, are refused at once, whatever that peer had sent', async () => {
  const machine = await started();
  const first = event();
  await send(machine, first);
  assert.equal(codesOf(await offered(machine, submit(first))), ['duplicate_event']);
  const foreign: Command = { type: 'submit', caller: 1, events: [event()] };
  assert.equal(codesOf(await offered(machine, foreign)), ['peer_id_mismatch']);
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
  const unknown = (await offered(machine, submit(...deepest), 3)) as RepeatsUnknown;
  assert.is(unknown.checks.length, 3);
  const answered = new Map<number, number>();
  let from: ChainPlace | null = null;
  const pieces: (readonly number[])[] = [];
  while (answered.size < 3) {
    const checks = unknown.checks.filter(({ index }) => !answered.has(index));
    const query = { ...unknown, checks, from, holder: null };
    const piece: RepeatsPiece = readRepeats(new RecordReader(machine.log), query, 4);
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

test('an erasure forgets the content of events, and leaves the same state as a replay', async () => {
  const machine = await started();
  await send(machine, event());
  await eraseFrom(machine);
  await send(machine, event({ severity: 0.5 }));
  assert.equal(held(machine), [0.5, 1]);
  const digest = stateDigest(machine.actor.state);
  machine.restart();
  assert.is(stateDigest(machine.actor.state), digest);
});

test('an event removed by age keeps its evidence, and is repeated only while an equal one exists', async () => {
  for (const isRepeated of [false, true]) {
    const machine = await started();
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
