/** `ptf` against a node of its own process: the pages that it reads, the questions that it asks, and exports. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { auditHash, auditStart } from '../../../src/core/records/audit.js';
import { granted } from '../../../src/errors.js';
import type { OperatorApi } from '../../../src/group/api.js';
import { DAY_MS, limits } from '../../../src/limits.js';
import { temporaryFolder } from '../../support/process.js';
import { peerView, recordedGroup, trust } from '../recorded-group.js';
import { linesOf, runHere, serveOperator } from '../run-here.js';

const hash = '5f'.repeat(32);
const epoch = '1970-01-01T00:00:00.000Z';

/** Runs a command at a terminal whose user answers `yes`, against a node with this group. */
async function run(args: readonly string[], group: OperatorApi, yes = true, over: Parameters<typeof runHere>[2] = {}) {
  const dir = temporaryFolder();
  const asked: string[] = [];
  const confirm = async (question: string) => {
    asked.push(question);
    return yes;
  };
  const socket = await serveOperator(dir, group);
  try {
    const ran = await runHere(args, dir, { ...over, terminal: { confirm, ...over.terminal } });
    return { ...ran, lines: linesOf(ran), asked };
  } finally {
    await socket.close();
  }
}

const unknown: Partial<OperatorApi> = { trust: () => undefined, explain: () => undefined };

test('an erasure of a player without an event is asked about, and printed with its receipt', async () => {
  const { group, calls } = recordedGroup(1, unknown);
  const erased = await run(['erase', hash.toUpperCase(), '--by', 'alice'], group);
  assert.match(erased.asked.join(), `Erase player ${hash}, of whom no event is stored? This deletes`);
  assert.equal(erased.lines, [
    `subject | ${hash}`,
    'status | erased',
    'events erased | 3',
    `at | ${epoch}`,
    'receipt | r',
  ]);
  assert.equal(calls.at(-1), ['confirmErasure', Buffer.from(hash, 'hex'), 'operator:alice']);
  // Another failure is none of an unknown player, so that nothing is asked and nothing is erased.
  const failed = recordedGroup(1);
  const failure = await run(['erase', hash], failed.group);
  assert.equal([failure.code, failure.asked], [1, []]);
  assert.match(failure.err, '(internal_error)');
  assert.not(failed.calls.some(([name]) => name === 'confirmErasure'));
});

test('without a yes nothing is changed, and without a terminal, or with --yes, nothing is asked', async () => {
  const { group, calls } = recordedGroup(1, unknown);
  const no = await run(['erase', hash], group, false);
  assert.equal([no.code, no.err], [1, 'ptf: not confirmed; nothing was changed (not_confirmed)\n']);
  const revoking = await run(['peers', 'revoke', 'peer-0'], group, false);
  assert.equal(
    [revoking.code, revoking.asked],
    [1, ['Revoke Peer 0 (peer-0), with 2 events? This is final, and removes all weight from its evidence.']],
  );
  for (const [idle, hours] of Object.entries({ '1d': '24', '30m': '0.5', '7m': '0.12' })) {
    const [question] = (await run(['peers', 'purge', '--idle', idle], group, false)).asked;
    assert.ok(question?.includes(`registered over ${hours} h ago? This is final.`), question);
  }
  const changes = () =>
    calls.filter(([name]) => /^(?:confirmErasure|changePeer|purgePeers)$/.test(String(name))).length;
  assert.is(changes(), 0);
  assert.equal((await run(['erase', hash, '--yes'], group, false)).asked, []);
  assert.is((await run(['peers', 'revoke', 'peer-0'], group, false, { terminal: { confirm: null } })).code, 0);
  assert.is(changes(), 2);
});

test('erasures that wait are listed with the peers that asked, and the evidence about the player', async () => {
  const requests = [
    { requestedAt: 0, peerId: 'peer-0', reason: 'operator_mode' as const },
    { requestedAt: DAY_MS, peerId: null, reason: 'operator_mode' as const },
  ];
  const listed = async (lowering: number, raising: number, waiting = requests) => {
    const explain = () => ({ lowering, raising, peers: 3 }) as ReturnType<OperatorApi['explain']>;
    const pendingErasures = () => [{ subject: hash, requests: waiting }];
    return run(['erase', '--pending'], recordedGroup(1, { trust: () => trust, explain, pendingErasures }).group);
  };
  const { lines } = await listed(1, 1);
  const due = new Date(limits.erasureDueMs).toISOString().slice(0, 10);
  assert.equal(lines, [
    'subject | due | asked by | because | verdict | peers | direction',
    `${hash} | ${due} | Peer 0 and 1 more | operator_mode | untrusted | 3 | both`,
  ]);
  const directions = await Promise.all([listed(1, 0), listed(0, 1), listed(0, 0)]);
  assert.equal(
    directions.map(({ lines: [, line] }) => line!.split(' | ').at(-1)),
    ['lowering', 'raising', 'none'],
  );
  assert.match((await listed(1, 1, requests.slice(1))).lines[1]!, '| anonymous | operator_mode |');
  const gone = await run(['erase', '--pending', '--json'], recordedGroup(1, unknown).group);
  const [{ evidence, requested_at, due_at }] = JSON.parse(gone.out).data;
  assert.equal([evidence, requested_at, Date.parse(due_at)], [null, epoch, limits.erasureDueMs]);
});

test('a list is read page by page to its end, sorted by numbers from the greatest down', async () => {
  const peers = Array.from({ length: limits.pageMax + 2 }, (_, i) => ({ ...peerView(i), eventCount: i }));
  const { group, calls } = recordedGroup(0, { peers: (from, limit) => peers.slice(from, from + limit) });
  const { out } = await run(['peers', 'list', '--sort', 'events', '--json'], group);
  const { data, ...more } = JSON.parse(out);
  assert.equal([data.length, data[0].peer_id, data.at(-1).peer_id, more], [peers.length, 'peer-201', 'peer-0', {}]);
  assert.equal(
    calls.filter(([name]) => name === 'peers').map(([, from]) => from),
    [0, limits.pageMax],
  );
});

test('peers sorted by their last event begin with the newest, and a peer without an event is last', async () => {
  const times = [null, 5, null, 9];
  const { group } = recordedGroup(times.length, {
    peers: () => times.map((lastEventAt, i) => ({ ...peerView(i), lastEventAt })),
  });
  const { out } = await run(['peers', 'list', '--sort', 'last', '--json'], group);
  assert.equal(
    JSON.parse(out).data.map(({ peer_id }: { peer_id: string }) => peer_id),
    ['peer-3', 'peer-1', 'peer-0', 'peer-2'],
  );
});

test('the list of peers has more columns where each is whole, and names what is remarkable about a peer', async () => {
  const peers = [peerView(0), { ...peerView(1), lastEventAt: 0, contactEmail: 'a@b', preTrusted: true, weight: 0 }];
  const { group } = recordedGroup(0, { peers: (from, limit) => peers.slice(from, from + limit) });
  const narrow = await run(['peers', 'list'], group, true, { terminal: { width: 120 } });
  const remark = 'weight 0: not computed yet';
  assert.equal(narrow.lines, [
    'peer | name | status | events | weight | last event | remark',
    'peer-0 | Peer 0 | active | 2 | 0.500',
    `peer-1 | Peer 1 | active | 2 | 0.000 | 1970-01-01 | ${remark}`,
  ]);
  const wide = await run(['peers', 'list', '--wide'], group);
  assert.equal(wide.lines, [
    'peer | name | status | events | weight | last event | pre-trusted | registered | contact | games | remark',
    `peer-0 | Peer 0 | active | 2 | 0.500 | no | ${epoch} | chess`,
    `peer-1 | Peer 1 | active | 2 | 0.000 | 1970-01-01 | yes | ${epoch} | a@b | chess | ${remark}`,
  ]);
});

test('the audit log is exported and verified page by page, and a broken chain is a fault', async () => {
  const content = { action: 'a', actor: 'b', target: 'c' };
  const hashes: string[] = [];
  for (const seq of [1, 2, 3]) hashes.push(auditHash(hashes.at(-1) ?? auditStart, seq, 0, content));
  const audit = (stored: readonly string[]): Partial<OperatorApi> => ({
    audit: async (after) => {
      const chained = { seq: after + 1, at: 0, prevHash: hashes[after - 1] ?? auditStart, hash: stored[after]! };
      return granted({ entries: [{ ...content, ...chained }], nextAfter: after === 2 ? null : after + 1 });
    },
  });
  const steps: unknown[] = [];
  const progress = () => ({ to: (...at: number[]) => void steps.push(at), end: () => void steps.push('end') });
  const exported = await run(['export', 'audit'], recordedGroup(1, audit(hashes)).group, true, {
    terminal: { progress },
  });
  assert.equal(
    exported.lines.map((line) => JSON.parse(line).seq),
    [1, 2, 3],
  );
  assert.is((await run(['export', 'audit', '--json'], recordedGroup(1, audit(hashes)).group)).out, exported.out);
  assert.equal(steps, [[1, 1], [2, 1], [3, 1], 'end']);
  let texts = 0;
  const stream = async () => ++texts > 1;
  const closed = await run(['export', 'audit'], recordedGroup(1, audit(hashes)).group, true, { terminal: { stream } });
  assert.equal([closed.code, texts], [0, 1], 'nobody reads on');
  const intact = await run(['audit', 'verify'], recordedGroup(1, audit(hashes)).group);
  assert.equal(intact.lines, ['entries | 3', `head hash | ${hashes[2]}`, 'The chain is intact.']);
  const broken = await run(['audit', 'verify'], recordedGroup(1, audit([hashes[0]!, 'no', hashes[2]!])).group);
  assert.equal([broken.code, broken.lines], [1, ['entries | 1', `head hash | ${hashes[0]}`]]);
  assert.is(broken.err, 'ptf: the audit entry at seq 2 has a hash that is not that of its content (audit_broken)\n');
});

test('a running node verifies its own store', async () => {
  const { lines } = await run(['verify'], recordedGroup(1).group);
  assert.equal([lines[0], lines.at(-1)], ['checked by | the running node', 'The store is intact.']);
});

test('a scrub takes the settings of the members, and one that is incomplete is a fault', async () => {
  const folder = temporaryFolder();
  mkdirSync(join(folder, 'member', 'wal'), { recursive: true });
  writeFileSync(join(folder, 'member', 'wal', '0.wal'), 'other bytes');
  const asked: unknown[] = [];
  const cluster = (complete: boolean, marker: string | null, scrubbed?: object | null) => {
    const status = { nodes: [], refused: [], members: [], leader: null, lastTakeover: null, scrubbed, appliedSeq: 1 };
    const clusterOperations = {
      status: async () => granted(status),
      scrub: async (settings: unknown) => {
        asked.push(settings);
        return granted({ complete, detail: 'two members', marker });
      },
    } as unknown as OperatorApi['clusterOperations'];
    return recordedGroup(1, { clusterOperations }).group;
  };
  const clean = `no file in ${folder} holds bytes from before the last scrub`;
  const whole = await run(['cluster', 'scrub', '--search', folder], cluster(true, 'abcd'));
  assert.equal([whole.code, whole.lines], [0, ['two members', clean]]);
  const settings = ['--snapshot-count', '5', '--max-wals', '3'];
  const cut = await run(['cluster', 'scrub', '--now', ...settings], cluster(false, null));
  assert.equal([cut.code, cut.lines, cut.err], [1, ['two members'], 'ptf: two members (scrub_incomplete)\n']);
  assert.equal(asked, [{}, { snapshotEntries: 5, files: 3 }]);
  const marked = { at: 0, complete: true, detail: 'done', marker: 'abcd' };
  const search = (scrubbed?: object | null) => run(['cluster', 'search', folder], cluster(true, null, scrubbed));
  assert.equal((await search(marked)).lines, [clean]);
  for (const none of [null, { ...marked, marker: null }]) {
    assert.is((await search(none)).err, 'ptf: there was no scrub yet; run ptf cluster scrub --now (no_scrub)\n');
  }
  assert.is((await search()).err, 'ptf: etcd does not answer (dependency_unavailable)\n');
});

test('a new password is asked for twice and stored as a hash, or refused before anything is stored', async () => {
  const stored: string[] = [];
  const set = async (terminal: NonNullable<Parameters<typeof runHere>[2]>['terminal']) => {
    const keepSecret = async (...secret: string[]) => void stored.push(...secret.slice(0, 2));
    const ran = await runHere(['dashboard', 'set-password'], '/nowhere', { keepSecret, ...(terminal && { terminal }) });
    return [ran.code, ran.err];
  };
  const asked: string[] = [];
  const typed = (...answers: string[]) =>
    set({
      askSecret: async (question) => {
        asked.push(question);
        return answers.shift()!;
      },
    });
  assert.equal(await typed(''), [1, 'ptf: no password was entered; nothing was changed (not_confirmed)\n']);
  assert.equal(await typed('short'), [2, 'ptf: the password must have at least 12 characters (wrong_usage)\n']);
  const differ = [1, 'ptf: the two passwords differ; nothing was changed (not_confirmed)\n'];
  assert.equal(await typed('correct horse', 'correct horsf'), differ);
  assert.equal(await set({ input: async () => 'two\nlines of it\n' }), [
    2,
    'ptf: the password must not contain control characters (wrong_usage)\n',
  ]);
  assert.equal(stored, []);
  // One question for each refusal of the first answer.
  assert.equal(asked, ['New password', 'New password', 'New password', 'Repeat the password']);
  assert.equal(await typed('correct horse', 'correct horse'), [0, '']);
  assert.equal(await set({ input: async () => 'correct horse\r\n' }), [0, '']);
  assert.equal(stored, Array(2).fill(['/nowhere', 'dashboard-password']).flat());
});

test.run();
