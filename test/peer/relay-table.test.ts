import { mkdirSync, rmdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { TrustValues } from '../../src/client/player-trust.js';
import type { TrustError } from '../../src/client/trust-error.js';
import { RelayJournal } from '../../src/peer/relay/relay-journal.js';
import { RelayTable } from '../../src/peer/relay/relay-table.js';
import { temporaryFolder } from '../support/process.js';

const [A, B] = ['a'.repeat(64), 'b'.repeat(64)];

const trust = (verdict: TrustValues['verdict']): TrustValues => ({ score: 50, confidence: 0.5, verdict, known: true });

class Relay {
  readonly folder = temporaryFolder();
  readonly delivered: string[] = [];
  readonly ids: string[] = [];
  fails = false;
  journal!: RelayJournal;
  table!: RelayTable;

  /** Starts, or starts again from what is on disk. */
  async start(newOnly = false): Promise<this> {
    await this.journal?.close();
    this.journal = await RelayJournal.open(join(this.folder, 'journal.ndjson'));
    this.table = new RelayTable({
      journal: this.journal,
      newOnly,
      deliver: async ({ id, subject, from, to }) => {
        if (this.fails) throw new Error('the relay ends');
        this.ids.push(id);
        this.delivered.push(`${subject[0]} ${from} ${to?.verdict ?? 'gone'}`);
      },
    });
    return this;
  }

  take(): string[] {
    return this.delivered.splice(0);
  }
}

test('changes are delivered in their order, and what is delivered is on disk with the id that it reached', async () => {
  const relay = await new Relay().start();
  relay.table.setPublished(A, trust('suspicious'));
  relay.table.setPublished(B, trust('neutral'));
  relay.table.setPublished(A, trust('untrusted'));
  relay.table.setPublished(A, trust('untrusted'));
  await relay.table.settle('id-1');
  assert.equal(relay.take(), ['a neutral suspicious', 'a suspicious untrusted']);
  await relay.start();
  assert.equal([relay.journal.lastEventId, [...relay.journal.verdicts]], ['id-1', [[A, 'untrusted']]]);
  relay.table.removePublished(A);
  // A part of a piece has no id yet.
  await relay.table.settle('');
  await relay.start();
  assert.equal([relay.journal.lastEventId, relay.table.size], ['id-1', 0]);
  assert.equal(relay.take(), ['a untrusted gone']);
  assert.is(new Set(relay.ids).size, 3, 'each change has an id of its own');
});

test('a change that could not be delivered comes again, without those before it, and its id is not reached', async () => {
  const relay = await new Relay().start();
  relay.table.setPublished(A, trust('untrusted'));
  await relay.table.settle('id-1');
  relay.fails = true;
  relay.table.setPublished(B, trust('suspicious'));
  let failed = '';
  await relay.table.settle('id-2').catch((error: Error) => {
    failed = error.message;
  });
  assert.is(failed, 'the relay ends');
  assert.is(relay.journal.lastEventId, 'id-1');
  relay.fails = false;
  await relay.table.settle('id-2');
  assert.equal(relay.take(), ['a neutral untrusted', 'b neutral suspicious']);
  await relay.start();
  assert.is(relay.journal.lastEventId, 'id-2');
});

test('a change whose delivery could not be written comes again with the same id', async () => {
  const relay = await new Relay().start();
  relay.table.setPublished(A, trust('untrusted'));
  const journal = join(relay.folder, 'journal.ndjson');
  mkdirSync(journal);
  await relay.table.settle('id-1').then(
    () => assert.unreachable(),
    ({ code }: TrustError) => assert.is(code, 'spool_failed'),
  );
  rmdirSync(journal);
  await relay.table.settle('id-1');
  assert.equal([relay.take().length, new Set(relay.ids).size], [2, 1]);
});

test('a first snapshot is taken as known if only new changes are wanted, and a later one is compared', async () => {
  const relay = await new Relay().start(true);
  relay.table.snapshotBegins();
  relay.table.setPublished(A, trust('untrusted'));
  await relay.table.settle('id-1');
  assert.is(relay.journal.lastEventId, '', 'the snapshot is not whole');
  relay.table.setPublished(B, trust('suspicious'));
  relay.table.snapshotEnds();
  await relay.table.settle('id-1');
  assert.equal([relay.take(), relay.journal.lastEventId], [[], 'id-1']);
  await relay.start(true);
  relay.table.snapshotBegins();
  relay.table.setPublished(B, trust('trusted'));
  relay.table.streamBroke();
  assert.is(relay.table.inSnapshot, false, 'the next snapshot begins anew');
  relay.table.snapshotBegins();
  relay.table.setPublished(B, trust('trusted'));
  relay.table.snapshotEnds();
  await relay.table.settle('id-2');
  assert.equal(relay.take(), ['b suspicious trusted', 'a untrusted gone']);
});

test('a first snapshot that could not be written is written whole before any change counts', async () => {
  const relay = await new Relay().start(true);
  const journal = join(relay.folder, 'journal.ndjson');
  mkdirSync(journal);
  relay.table.snapshotBegins();
  relay.table.setPublished(A, trust('untrusted'));
  relay.table.snapshotEnds();
  for (const id of ['id-1', 'id-2']) {
    const failed = await relay.table.settle(id).catch(({ code }: TrustError) => code);
    assert.equal([failed, relay.journal.lastEventId], ['spool_failed', '']);
  }
  rmdirSync(journal);
  await relay.table.settle('id-2');
  await relay.start(true);
  relay.table.setPublished(A, trust('neutral'));
  await relay.table.settle('id-3');
  assert.equal([relay.take(), relay.journal.lastEventId], [['a untrusted neutral'], 'id-3']);
});

test.run();
