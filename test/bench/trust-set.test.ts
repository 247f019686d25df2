import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { listTrustSets, loadTrustSet } from '../../bench/data/trust-set.js';
import { temporaryFolder } from '../support/process.js';

let dir = '';

test.before.each(() => {
  dir = temporaryFolder();
});

function write(name: string, observations: string, truth: string): void {
  writeFileSync(join(dir, `${name}.obs.csv.gz`), gzipSync(`peer,player,polarity,severity,ts\n${observations}`));
  writeFileSync(join(dir, `${name}.truth.csv.gz`), gzipSync(`player,bad\n${truth}`));
}

test('a set numbers peers and players in order of first appearance', () => {
  write('small', 'p2,s9,-1,0.5,\np1,s9,1,1,1289254254\np2,s3,1,0.25,\n', 's3,0\ns9,1\ns7,1\n');
  assert.equal(listTrustSets(dir), ['small']);
  const set = loadTrustSet(dir, 'small');
  assert.equal(set.peers, ['p2', 'p1']);
  assert.equal(set.players, ['s9', 's3']);
  assert.equal(set.observations, [
    { peer: 0, player: 0, polarity: -1, severity: 0.5, timestampMs: null },
    { peer: 1, player: 0, polarity: 1, severity: 1, timestampMs: 1289254254000 },
    { peer: 0, player: 1, polarity: 1, severity: 0.25, timestampMs: null },
  ]);
});

test('truth about a player without reports is left out', () => {
  write('small', 'p1,s9,-1,1,\n', 's9,1\ns7,1\n');
  assert.equal([...loadTrustSet(dir, 'small').truth], [[0, 1]]);
});

test('the notes of an attack group name peers and players that are in the set', () => {
  write('small', 'p1,s1,-1,1,\np2,s2,1,1,\n', 's1,1\ns2,0\n');
  const notes = { small: { pretrusted: ['p2'], adversaries: ['p1'], targets: ['s2', 's8'] } };
  writeFileSync(join(dir, 'sim_meta.json'), JSON.stringify(notes));
  const set = loadTrustSet(dir, 'small');
  assert.equal([set.preTrusted, set.adversaries, set.targets], [[1], [0], [1]]);
});

test('an invalid row is refused with its line, and so is a time that no date has', () => {
  for (const [cells, fault] of [
    ['1.5,', 'severity 1\\.5'],
    ['1,1e15', 'ts 1e15'],
    ['1,-1', 'ts -1'],
    ['1,x', 'ts x'],
  ] as const) {
    write('small', `p1,s1,-1,1,1289254254\np1,s1,-1,${cells}\n`, '');
    assert.throws(() => loadTrustSet(dir, 'small'), new RegExp(`small\\.obs\\.csv\\.gz:3: ${fault} is not valid`));
  }
});

test('a file that is not packed, or damaged, is refused by its name', () => {
  write('small', 'p1,s1,-1,1,\n', 's1,1\n');
  const file = join(dir, 'small.truth.csv.gz');
  const whole = readFileSync(file);
  for (const bytes of [Buffer.from('player,bad\n'), whole.subarray(0, whole.length - 12), Buffer.alloc(0)]) {
    writeFileSync(file, bytes);
    assert.throws(() => loadTrustSet(dir, 'small'), /small\.truth\.csv\.gz is not gzip data, or damaged/);
  }
});

test('a set without an observation is refused by its name', () => {
  write('small', '', 's1,1\n');
  assert.throws(() => loadTrustSet(dir, 'small'), /small\.obs\.csv\.gz has no observation/);
});

test.run();
