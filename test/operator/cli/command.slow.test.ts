/** The operator command as an operator runs it: a process of its own, against a real node found by its data folder. */
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { auditHash, auditStart } from '../../../src/core/records/audit.js';
import { dataFileOf } from '../../../src/store/files/lmdb-file.js';
import { logFolderOf } from '../../../src/store/log/lmdb-log.js';
import { type Ran, watched } from '../../support/child-process.js';
import { startTestNode, type TestNode } from '../../support/node.js';
import { temporaryFolder } from '../../support/process.js';
import { ptfEntry } from '../../support/ptf.js';
import { runHere } from '../run-here.js';

const subject = 'ab'.repeat(32);

let node: TestNode;
let folder = '';
test.before(async () => {
  node = await startTestNode();
  folder = temporaryFolder();
});
test.after(() => node.close());

/** Runs the command in an empty folder, with `DATA_DIR` alone in its environment. */
async function ptf(args: readonly string[], dir: string | null = node.dir, cwd = folder): Promise<Ran> {
  const env = { PATH: process.env.PATH, ...(dir === null ? {} : { DATA_DIR: dir }) };
  return watched(spawn(process.execPath, [ptfEntry, ...args], { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] })).ended;
}

type Json = Record<string, unknown>;

/** The one document that `--json` prints, from a run that ends with `code`. */
async function json(args: readonly string[], code = 0, dir: string | null = node.dir): Promise<Json> {
  const run = await ptf([...args, '--json'], dir);
  assert.is(run.code, code, run.out + run.err);
  assert.is(run.err, '');
  return JSON.parse(run.out);
}

function rowsOf(document: Json, name = 'data'): Json[] {
  const rows = document[name];
  if (!Array.isArray(rows)) throw new Error(`no list ${name}`);
  return rows;
}

async function addPeer(name: string, dir = node.dir): Promise<{ readonly id: string; readonly key: string }> {
  const added = await json(['peers', 'add', '--name', name, '--games', 'chess,go'], 0, dir);
  return { id: String(added.peer_id), key: String(added.api_key) };
}

/** Submits an event; the answer's status tells what the key is worth: 201, 401 or 403. */
async function submit(peer: { id: string; key: string }, eventId: string, url = node.url): Promise<number> {
  const body = {
    schema_version: '1.0.0',
    event_id: eventId,
    event_type: 'report_cheating',
    peer_id: peer.id,
    player_id: subject,
    game_id: 'chess',
    severity: 1,
    timestamp: new Date(0).toISOString(),
  };
  const response = await fetch(`${url}/api/v1/events`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'X-Peer-API-Key': peer.key },
    body: JSON.stringify(body),
  });
  return response.status;
}

const newestAudit = async (): Promise<Json | undefined> => rowsOf(await json(['audit', 'tail', '--count', '1']))[0];

test('wrong usage ends the process with 2, and a command without its node with 3', async () => {
  const nowhere = join(folder, 'nowhere');
  const document = await json(['erase', 'not-a-hash'], 2, nowhere);
  assert.is(document.code, 'wrong_usage');
  assert.match(String(document.error), '64 hexadecimal');
  assert.is((await json(['status'], 3, nowhere)).code, 'no_node');
  assert.match((await ptf(['status'], nowhere)).err, /^ptf: no node runs on .*\(no_node\)$/m);
});

test('the node is found by --data-dir, then DATA_DIR, then .env, then ./snapshots', async () => {
  const away = mkdtempSync(join(folder, 'away-'));
  assert.is((await ptf(['status', '--data-dir', node.dir], join(folder, 'nowhere'), away)).code, 0);
  assert.is((await ptf(['--data-dir', node.dir, 'status'], null, away)).code, 0);
  assert.is((await ptf(['status'], node.dir, away)).code, 0);
  assert.match((await ptf(['status'], null, away)).err, `no node runs on ${join(away, 'snapshots')}`);
  writeFileSync(join(away, '.env'), `DATA_DIR=${node.dir}\n`);
  assert.is((await ptf(['status'], null, away)).code, 0);
  assert.is((await ptf(['status'], '', away)).code, 0);
  assert.is((await ptf(['status'], join(folder, 'nowhere'), away)).code, 3);
  rmSync(join(away, '.env'));
  mkdirSync(join(away, '.env'));
  const unreadable = await ptf(['status'], node.dir, away);
  assert.is(unreadable.code, 2);
  assert.match(unreadable.err, '.env');
});

test('status shows the group of the node and its state', async () => {
  const value = await json(['status']);
  assert.equal(Object.keys(value).sort(), [
    'alerts',
    'ban_half_life_days',
    'check',
    'counts',
    'disk',
    'environment',
    'group_id',
    'half_life_days',
    'identity_mode',
    'last_seq',
    'mailbox',
    'new_peers',
    'open_disputes',
    'owner_epoch',
    'pending_erasures',
    'pre_trusted',
    'ready',
    'reason',
    'sends_reports_only',
    'snapshots',
    'version',
    'weights',
    'witness_groups',
    'writable',
  ]);
  assert.is(value.group_id, 'local');
  assert.is(value.ready, true);
  assert.is(value.owner_epoch, 1);
  const { code, out } = await ptf(['status']);
  assert.is(code, 0);
  assert.match(out, /^group +local \(privacy-first, dev\)$/m);
  assert.match(out, /^ready +yes$/m);
  assert.match(out, /^disk +[\d.]+ MB free, writes are refused below 256\.0 MB; log [\d.]+ MB, snapshots 0\.0 MB$/m);
});

test('an added peer may submit with the key that is printed once, and the list never contains it', async () => {
  const run = await ptf(['peers', 'add', '--name', 'Arena EU', '--games', 'chess, go', '--email', 'ops@example.com']);
  assert.is(run.code, 0, run.err);
  const keys = run.out.match(/^ptf_dev_[\w-]{43}$/gm) ?? [];
  assert.is(keys.length, 1);
  assert.match(run.out, 'shown only this once');
  const key = String(keys[0]);
  const list = rowsOf(await json(['peers', 'list']));
  const peer = list.find((row) => row.peer_name === 'Arena EU');
  assert.equal(peer?.game_ids, ['chess', 'go']);
  assert.is(peer?.status, 'active');
  assert.is(await submit({ id: String(peer?.peer_id), key }, 'added-1'), 201);
  const text = await ptf(['peers', 'list']);
  assert.match(text.out, 'Arena EU');
  assert.not.match(text.out, key);
  assert.not.match(JSON.stringify(list), key);
});

test('a stored name with control characters does not reach the terminal as such', async () => {
  await node.group.register({ peerName: 'evil\u001b[2J', gameIds: ['arena'] }, 'test');
  const { out } = await ptf(['peers', 'list']);
  assert.match(out, 'evil<1b>[2J');
  assert.not.ok(out.includes('\u001b'));
});

test('suspended and active change into each other, with effect on the peer', async () => {
  const peer = await addPeer('to suspend');
  assert.is((await json(['peers', 'suspend', peer.id, '--by', 'alice'])).status, 'suspended');
  assert.is((await newestAudit())?.actor, 'operator:alice');
  assert.is((await newestAudit())?.action, 'peer_suspended');
  assert.is(await submit(peer, 'suspended-1'), 403);
  assert.is((await json(['peers', 'reinstate', peer.id])).status, 'active');
  assert.is((await newestAudit())?.actor, 'operator');
  assert.is(await submit(peer, 'suspended-2'), 201);
});

test('the newest declaration of two peers as same or independent counts, and the audit log has it', async () => {
  const [one, other] = [await addPeer('one'), await addPeer('other')];
  for (const relation of ['same', 'independent', 'same'] as const) {
    const value = await json(['peers', relation, other.id, one.id, '--by', 'alice']);
    assert.is(value.relation, relation);
    const { actor, action, target } = (await newestAudit())!;
    assert.equal([actor, action, target], ['operator:alice', `peers_${relation}`, `${one.id} ${other.id}`]);
  }
  assert.match((await ptf(['peers', 'same', one.id, other.id])).out, 'They count as one witness');
  assert.is((await json(['peers', 'same', one.id, one.id], 1)).code, 'peer_id_mismatch');
  assert.is((await json(['peers', 'same', one.id, 'nobody'], 1)).code, 'unknown_peer');
});

test('peers that never sent an event are purged once idle for long enough, and free their places', async () => {
  const [idle, busy] = [await addPeer('idle'), await addPeer('busy')];
  assert.is(await submit(busy, 'busy-1'), 201);
  assert.equal((await json(['peers', 'purge', '--idle', '1h'])).purged, []);
  const { purged } = (await json(['peers', 'purge', '--idle', '0m', '--by', 'alice'])) as { purged: string[] };
  assert.ok(purged.includes(idle.id) && !purged.includes(busy.id));
  const { actor, action } = (await newestAudit())!;
  assert.equal([actor, action], ['operator:alice', 'peer_revoked']);
  assert.is(await submit(busy, 'busy-2'), 201);
  assert.is(await submit(idle, 'idle-1'), 403);
  assert.match((await ptf(['peers', 'purge', '--idle', '0m'])).out, '0 peers revoked');
});

test('a revocation is final', async () => {
  const peer = await addPeer('to revoke');
  // There is no user to ask here: the input is no terminal.
  assert.is((await json(['peers', 'revoke', peer.id])).status, 'revoked');
  assert.is(await submit(peer, 'revoked-1'), 403);
  for (const args of [
    ['peers', 'reinstate', peer.id],
    ['peers', 'suspend', peer.id],
    ['peers', 'rotate-key', peer.id],
    ['pretrust', 'add', peer.id],
  ]) {
    const run = await ptf(args);
    assert.is(run.code, 1, args.join(' '));
    assert.match(run.err, /final \(peer_not_active\)$/m);
    assert.is(run.out, '');
  }
});

test('on a terminal a revocation asks for confirmation, unless --yes is given', async () => {
  const peer = await addPeer('to ask about');
  const run = async (args: readonly string[], answer: boolean): Promise<{ code: number; asked: number }> => {
    let asked = 0;
    const { code } = await runHere(['peers', 'revoke', peer.id, ...args], node.dir, {
      terminal: {
        async confirm(question) {
          assert.match(question, peer.id);
          asked += 1;
          return answer;
        },
      },
    });
    return { code, asked };
  };
  assert.equal(await run([], false), { code: 1, asked: 1 });
  assert.is(node.group.peerById(peer.id)?.status, 'active');
  assert.equal(await run(['--yes'], false), { code: 0, asked: 0 });
  assert.is(node.group.peerById(peer.id)?.status, 'revoked');
  assert.equal(await run([], true), { code: 0, asked: 1 });
});

test('an unknown peer is refused with its code', async () => {
  for (const args of [
    ['peers', 'suspend', 'nobody'],
    ['peers', 'rotate-key', 'nobody'],
    ['pretrust', 'add', 'nobody'],
    ['pretrust', 'remove', 'nobody'],
  ]) {
    const document = await json(args, 1);
    assert.is(document.code, 'unknown_peer', args.join(' '));
    assert.type(document.error, 'string');
  }
  assert.is((await json(['peers', 'show', 'nobody'], 1)).error, 'no peer has this id or name');
});

test('a rotation kills the old key at once', async () => {
  const peer = await addPeer('to rotate');
  const rotated = await json(['peers', 'rotate-key', peer.id]);
  assert.is(rotated.overlap_ms, 0);
  assert.is(await submit(peer, 'rotated-1'), 401);
  assert.is(await submit({ id: peer.id, key: String(rotated.api_key) }, 'rotated-2'), 201);
});

test('with an overlap both keys work', async () => {
  const peer = await addPeer('to rotate gently');
  const run = await ptf(['peers', 'rotate-key', peer.id, '--overlap', '1h']);
  assert.is(run.code, 0, run.err);
  assert.match(run.out, 'The old key works for 3600 s more.');
  const key = String(run.out.match(/^ptf_dev_[\w-]{43}$/m)?.[0]);
  assert.is(await submit(peer, 'overlap-1'), 201);
  assert.is(await submit({ id: peer.id, key }, 'overlap-2'), 201);
});

test('the pre-trusted peers are listed, added and removed, and the audit names who asked', async () => {
  assert.match((await ptf(['pretrust', 'list'])).out, 'no pre-trusted peers');
  const peer = await addPeer('to trust');
  const added = rowsOf(await json(['pretrust', 'add', peer.id, '--by', 'bob']), 'pre_trusted');
  assert.equal(added, [{ peer_id: peer.id, peer_name: 'to trust', status: 'active' }]);
  assert.is((await newestAudit())?.actor, 'operator:bob');
  assert.equal((await json(['status'])).pre_trusted, [peer.id]);
  assert.match((await ptf(['pretrust', 'list'])).out, peer.id);
  assert.equal((await json(['pretrust', 'remove', peer.id])).pre_trusted, []);
});

test('the audit log is printed from its end and verified from its start', async () => {
  const last = rowsOf(await json(['audit', 'tail', '--count', '200']));
  const first = last[0];
  assert.is(first?.action, 'group_formed');
  const hash = auditHash(auditStart, 1, Date.parse(String(first?.at)), {
    action: 'group_formed',
    actor: String(first?.actor),
    target: String(first?.target),
  });
  assert.is(first?.hash, hash);
  assert.is(rowsOf(await json(['audit', 'tail'])).length, Math.min(20, last.length));
  const verified = await json(['audit', 'verify']);
  assert.equal(verified, { ok: true, entries: last.length, head_hash: last.at(-1)?.hash, first_broken: null });
  const text = await ptf(['audit', 'verify']);
  assert.match(text.out, String(last.at(-1)?.hash));
  assert.match((await ptf(['audit', 'tail'])).out, /^seq +at +action +actor +target +hash$/m);
});

test('a running node verifies its whole store', async () => {
  const report = await json(['verify']);
  assert.is(report.ok, true);
  assert.is(report.checked, 'node');
  assert.equal(report.faults, []);
  assert.match((await ptf(['verify'])).out, 'The store is intact.');
});

test('an erasure is done at once, and again there is nothing to erase', async () => {
  const peer = await addPeer('to erase for');
  assert.is(await submit(peer, 'erased-1'), 201);
  const erased = await json(['erase', subject.toUpperCase()]);
  assert.is(erased.status, 'erased');
  assert.is(erased.subject_hash, subject);
  assert.ok(Number(erased.events_erased) >= 1);
  assert.is((await fetch(`${node.url}/api/v1/players/${subject}/trust-score`)).status, 404);
  assert.is((await json(['erase', subject], 1)).code, 'subject_not_found');
  assert.not.match(JSON.stringify(await json(['audit', 'tail', '--count', '200'])), subject);
});

test('if erasures wait for the operator, erase confirms the request of a peer', async () => {
  await using waiting = await startTestNode({ ERASURE_MODE: 'operator' });
  const peer = await addPeer('asks', waiting.dir);
  assert.is(await submit(peer, 'waiting-1', waiting.url), 201);
  const asked = await fetch(`${waiting.url}/api/v1/subjects/${subject}`, {
    method: 'DELETE',
    headers: { 'X-Peer-API-Key': peer.key },
  });
  assert.is(asked.status, 202);
  assert.is((await json(['status'], 0, waiting.dir)).pending_erasures, 1);
  const [request] = (await json(['erase', '--pending'], 0, waiting.dir)).data as Record<string, string>[];
  assert.is(request!.subject_hash, subject);
  const daysLeft = (Date.parse(request!.due_at!) - Date.parse(request!.requested_at!)) / 86_400_000;
  assert.is(daysLeft, 30);
  const run = await ptf(['erase', subject], waiting.dir);
  assert.is(run.code, 0, run.err);
  assert.match(run.out, /^events erased +1$/m);
  assert.is((await json(['status'], 0, waiting.dir)).pending_erasures, 0);
  assert.is((await fetch(`${waiting.url}/api/v1/players/${subject}/trust-score`)).status, 404);
});

test('without a node the folder itself is verified, and damage is named', async () => {
  const dir = join(folder, 'data');
  const stopped = await startTestNode({ DATA_DIR: dir });
  const peer = await addPeer('to damage', dir);
  assert.is(await submit(peer, 'the-damaged-event', stopped.url), 201);
  await stopped.close();

  const whole = await json(['verify'], 0, dir);
  assert.is(whole.ok, true);
  assert.is(whole.checked, 'folder');
  assert.ok(Number(whole.last_seq) >= 3);

  const file = dataFileOf(logFolderOf(dir));
  const bytes = readFileSync(file);
  let at = bytes.indexOf('the-damaged-event');
  assert.ok(at > 0);
  for (; at > 0; at = bytes.indexOf('the-damaged-event', at + 1)) bytes[at]! ^= 1;
  writeFileSync(file, bytes);
  const before = statSync(file).mtimeMs;
  const damaged = await json(['verify'], 1, dir);
  assert.is(damaged.ok, false);
  assert.is(damaged.code, 'store_damaged');
  assert.match(String(rowsOf(damaged, 'faults')[0]), /log batch at record \d+/);
  const text = await ptf(['verify'], dir);
  assert.is(text.code, 1);
  assert.match(text.err, /log batch at record \d+.*\(store_damaged\)/);
  assert.is(statSync(file).mtimeMs, before);
});

test('a folder without a store is not reported as intact', async () => {
  const empty = mkdtempSync(join(folder, 'empty-'));
  assert.is((await json(['verify'], 1, empty)).code, 'no_store');
  assert.equal(readdirSync(empty), []);
});

test.run();
