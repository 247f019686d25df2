/** The lines that `ptf` prints of a node's answers. Runs of blanks between columns are written as ` | ` here. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { granted } from '../../src/errors.js';
import type { OperatorApi } from '../../src/group/api.js';
import { limits } from '../../src/limits.js';
import { type SimulationValue, simulationOperations } from '../../src/operations/simulation-operation.js';
import { asksOf, type OperationName, operations } from '../../src/operations/table.js';
import { explanation, peerView, recordedGroup, trust } from '../operator/recorded-group.js';

const wide = Number.POSITIVE_INFINITY;
const hash = '5f'.repeat(32);
const epoch = '1970-01-01T00:00:00.000Z';
const dispute_id = '00000000-0000-4000-8000-00000000000d';
const { group: sound } = recordedGroup(2);

/** Asks a group of two peers, and returns the lines of the operation's command number `row`. */
async function printed<N extends OperationName>(
  name: N,
  request: object,
  replaced: Partial<OperatorApi> = {},
  { row = 0, width = wide }: { readonly row?: number; readonly width?: number } = {},
): Promise<string[]> {
  const { group } = recordedGroup(2, replaced);
  const pseudonymise = (id: string) => (id.length === 64 ? Buffer.from(id, 'hex') : null);
  const answer = await asksOf({ group, version: '9.8.7', pseudonymise })(name, request);
  if (!answer.ok) return [answer.code, answer.text ?? ''];
  return operations[name].ptf[row]!.show(answer.value, width).map((line) => line.replace(/ {2,}/g, ' | '));
}

test('the status names what is on, off, absent, refused or damaged', async () => {
  const status = sound.status();
  const check = { running: true, checkedSeq: 7, endedAt: 0, faults: [] };
  const lineOf = async (name: string, over: Partial<typeof status>) => {
    const lines = await printed('status', {}, { status: () => ({ ...status, ...over }) });
    return lines.filter((line) => line.startsWith(`${name} | `)).map((line) => line.slice(name.length + 3));
  };
  const ended = `the last one ended ${epoch} and`;
  for (const [name, over, expected] of [
    ['ready', {}, 'yes'],
    ['weights', {}, 'not computed yet, based on seq 0'],
    ['half-life', {}, '30 days'],
    ['snapshots', {}, '1'],
    ['pre-trusted', {}, 'peer-0'],
    ['witness groups', {}, 'none: every peer is its own witness'],
    ['disk', {}, '5000.0 MB free, writes are refused below 256.0 MB; log 4.0 MB, snapshots 2.0 MB'],
    ['check', {}, 'no check has finished yet'],
    ['ready', { writable: false, reason: 'disk_low' }, 'reads only: disk_low'],
    ['ready', { ready: false, writable: true, reason: 'recovering' }, 'no: recovering'],
    ['alert', { writable: false, reason: 'disk_low' }, 'PtfNotReady: refuses writes, or all requests.'],
    ['weights', { weights: { basedOnSeq: 3, computedAt: 0 } }, `computed ${epoch}, based on seq 3`],
    ['half-life', { halfLifeDays: 0 }, 'off'],
    ['snapshots', { snapshots: [] }, 'none'],
    ['pre-trusted', { preTrusted: [] }, 'none'],
    ['witness groups', { witnesses: { groups: 2, peers: 5 } }, '2, of 5 peers'],
    ['disk', { disk: null }, 'not checked yet'],
    ['check', { check }, `${ended} found log and snapshots intact, one is at record 7 of 1`],
    ['check', { check: { ...check, running: false, faults: ['a', 'b'] } }, `${ended} FOUND DAMAGE: a; b`],
    ['check', { check: { ...check, endedAt: null } }, 'no check has finished yet, one is at record 7 of 1'],
  ] as const) {
    assert.equal(await lineOf(name, over), [expected], `${name}: ${expected}`);
  }
});

test('a peer is printed with its state, contact, note, key and figures', async () => {
  const peer = {
    ...peerView(1),
    contactEmail: 'a@b',
    note: 'asked',
    lastEventAt: 0,
    preTrusted: true,
    publicKey: 'key',
  };
  const signals = () => ({ players: 9, sharedPlayers: 4, discountedWith: [], oneWitnessWith: [] });
  const bare = await printed('peers-show', { peer_id: 'peer-1' });
  const full = await printed('peers-show', { peer_id: 'peer-1' }, { peerById: () => peer, signals });
  for (const [name, without, given] of [
    ['contact', 'none given', 'a@b'],
    ['note', 'none', 'asked'],
    ['last event', 'none', `in the hour from ${epoch}`],
    ['players', 'not computed yet', '9, 4 shared'],
    ['pre-trusted', 'no', 'yes'],
    ['public key', 'none', 'key'],
    ['weight', '0.500', '0.500'],
    ['gate', '0.250', '0.250'],
  ]) {
    assert.ok(bare.includes(`${name} | ${without}`) && full.includes(`${name} | ${given}`), name);
  }
  assert.equal(await printed('peers-show', { peer_id: 'nobody' }), ['unknown_peer', 'no peer has this id or name']);
});

test('a change of a peer is printed with the peer, and a new key on a line of its own', async () => {
  const line = 'peer-0 | active | "Peer 0" | games chess';
  const warning = 'API KEY, shown only this once and stored nowhere. Store it in the secrets store of the peer now:';
  const key = ['', warning, '', 'the-key', ''];
  const peer_id = 'peer-0';
  const noted = { changePeer: async () => granted({ ...peerView(0), note: 'seen\u001b', publicKey: 'key' }) };
  for (const [name, request, expected, replaced] of [
    ['peers-add', { peer_name: 'a', game_ids: ['b'] }, [line, ...key]],
    ['peers-rotate-key', { peer_id, overlap_ms: 0 }, [line, 'The old key no longer works.', ...key]],
    ['peers-rotate-key', { peer_id, overlap_ms: 90_000 }, [line, 'The old key works for 90 s more.', ...key]],
    ['peers-status', { peer_id, status: 'active' }, [line]],
    ['peers-note', { peer_id, note: null }, [line, 'The peer has no note.']],
    ['peers-note', { peer_id, note: 'x' }, [line, 'Note: seen<1b>'], noted],
    [
      'peers-set-key',
      { peer_id, public_key: null },
      [line, 'The peer has no public key: its writes need no signature, unless the node requires one.'],
    ],
    [
      'peers-set-key',
      { peer_id, public_key: null },
      [line, 'The peer must sign its writes from now on, with the key key'],
      noted,
    ],
    ['peers-purge', { idle_ms: 0 }, ['0 peers revoked']],
    ['peers-purge', { idle_ms: 0 }, ['peer-7', '1 peer revoked'], { purgePeers: async () => granted(['peer-7']) }],
    ['dashboard-unlock', {}, ['Everybody may try again to sign in to the dashboard of this node.']],
  ] as const) {
    assert.equal(await printed(name, request, replaced), expected, `${name} ${JSON.stringify(request)}`);
  }
});

test('a relation of two peers is printed with both, and when it takes effect', async () => {
  const peers = ['peer-0 | active | "Peer 0" | games chess', 'peer-1 | active | "Peer 1" | games chess'];
  const request = { peer_id: 'peer-0', other_id: 'peer-1' };
  assert.equal(await printed('peers-relate', { relation: 'same', ...request }), [
    ...peers,
    'They count as one witness from the next computation of weights on.',
  ]);
  assert.equal(await printed('peers-relate', { relation: 'independent', ...request }, {}, { row: 1 }), [
    ...peers,
    'They never count as one witness, from the next computation of weights on.',
  ]);
});

test('pre-trusted peers are listed, with a warning above the number that weakens their protection', async () => {
  const many = Array.from({ length: limits.preTrustedWarnAbove + 1 }, (_, i) => `peer-${i}`);
  const lines = (preTrusted: readonly string[]) =>
    printed(
      'pretrust-list',
      {},
      {
        status: () => ({ ...sound.status(), preTrusted }),
        peerById: (id) => (id === 'gone' ? undefined : peerView(Number(id.slice(5)))),
      },
    );
  assert.equal(await lines([]), ['no pre-trusted peers']);
  assert.equal(await lines(['peer-1', 'gone']), ['peer | status | name', 'peer-1 | active | Peer 1']);
  assert.is((await lines(many.slice(1))).length, many.length);
  const warning = `More than ${limits.preTrustedWarnAbove} pre-trusted peers weaken the protection that pre-trust gives.`;
  assert.equal([(await lines(many)).length, (await lines(many)).at(-1)], [many.length + 2, warning]);
});

test('the allow list and origins are printed as tables, and an empty one as a sentence', async () => {
  const until = '1970-01-01T00:01:00.000Z';
  const request = { subject_hash: hash.toUpperCase() };
  const added = { ...request, until: '2030-01-01T00:00:00Z', note: 'x' };
  const origin = { ...sound.origins()[0]!, isDeclared: false };
  for (const [name, asked, expected, replaced] of [
    ['allow-list', { from: 0, limit: 1 }, ['subject | until | note | entry', `${hash} | ${until} | note | entry`]],
    ['allow-list', { from: 0, limit: 1 }, ['no player is on the allow list'], { allowedPlayers: () => [] }],
    [
      'allow-add',
      added,
      [
        `${hash} reads as neutral until ${until}`,
        'The audit log names the entry entry, but neither the player nor the note.',
      ],
    ],
    ['allow-remove', request, [`${hash} was removed from the allow list: its score counts again`]],
    [
      'origins-list',
      {},
      ['name | status | weight | carriers | declared', `public-list | declared | 0.400 | 1 | ${epoch}`],
    ],
    ['origins-list', {}, ['no origin is declared'], { origins: () => [] }],
    ['origins-change', { change: 'add', name: 'a' }, ['public-list | declared']],
    [
      'origins-change',
      { change: 'remove', name: 'a' },
      ['public-list | removed'],
      { changeOrigin: async () => granted(origin) },
    ],
  ] as const) {
    assert.equal(await printed(name, asked, replaced), expected, name);
  }
});

test('a dispute is printed with its reporters, and those that its text names', async () => {
  const [view] = sound.disputes(undefined, 0, 1);
  const decide = (over: Partial<NonNullable<typeof view>> = {}) =>
    printed(
      'disputes-decide',
      { decision: 'uphold', dispute_id },
      { decideDispute: async () => granted({ ...view!, ...over }) },
    );
  const reporter = `Peer 0 (peer-0): 3 events, lowering, last ${epoch}, weight 0.25`;
  assert.equal(await decide(), [
    `dispute | ${dispute_id}`,
    'status | open',
    `subject | ${hash}`,
    `opened | ${epoch}`,
    'by | Peer 1 (peer-1)',
    'against | no peer in particular',
    `reporter | ${reporter}`,
    'void | nothing',
    'text | not him',
  ]);
  const named = { peerId: 'peer-2', peerName: 'Peer 2' };
  const reporters = [{ ...view!.reporters[0]!, direction: 'both' as const }];
  const over = { by: null, against: named, alsoNamed: [named], voids: ['peer-0', 'peer-1'], reporters };
  assert.equal((await decide(over)).slice(4), [
    'by | anonymous',
    'against | Peer 2 (peer-2)',
    `reporter | ${reporter.replace('lowering', 'lowering and raising')}`,
    'void | peer-0, peer-1',
    'text | not him',
    'text names | Peer 2 (peer-2)',
  ]);
  const page = { from: 0, limit: 1 };
  assert.equal(await printed('disputes-list', page), [
    'dispute | status | opened | player | by | against | reporters | text',
    `${dispute_id} | open | ${epoch} | ${hash} | Peer 1 | no peer in particular | ${reporter} | not him`,
  ]);
  assert.equal(await printed('disputes-list', page, { disputes: () => [] }), ['no disputes']);
});

test('a list of disputes tells two peers of one name apart, also at a terminal of 80 columns', async () => {
  const [view] = sound.disputes(undefined, 0, 1);
  const [first, second] = ['a', 'b'].map((digit) => {
    return { peerId: `${digit.repeat(8)}-0000-4000-8000-00000000000d`, peerName: 'Twin of a long name' };
  });
  const held = { direction: 'both', events: 2, lastAt: 0, weight: 0.5 } as const;
  const reporters = [
    { ...view!.reporters[0]!, ...first! },
    { ...held, ...second! },
  ];
  const words = 'a sibling used the account';
  const over = { by: null, against: second!, reporters, status: 'rejected', text: words } as const;
  const disputes = () => [{ ...view!, ...over }];
  const lines = (width: number) => printed('disputes-list', { from: 0, limit: 1 }, { disputes }, { width });
  const text = ({ peerName, peerId }: NonNullable<typeof first>) => `${peerName} (${peerId})`;
  const texts = [
    `${text(first!)}: 3 events, lowering, last ${epoch}, weight 0.25`,
    `${text(second!)}: 2 events, lowering and raising, last ${epoch}, weight 0.50`,
  ];
  assert.match((await lines(wide))[1]!, `| anonymous | ${text(second!)} | ${texts.join('; ')} | ${words}`);
  assert.equal(await lines(80), [
    'dispute | status | opened | player | by | against | text',
    '0000…00d | rejected | 1970-01-01 | 5f5f…f5f | anon…ous | Twin…ame bbbbbbbb | a siblin…',
  ]);
  assert.equal((await lines(200))[1]!.split(' | ').slice(4), ['anonymous', 'Twin of a long name bbbbbbbb', words]);
});

test('the audit log is printed with its hashes only if every column is whole', async () => {
  assert.equal(await printed('audit-tail', { count: 1 }), [
    'seq | at | action | actor | target | hash',
    ` | 1 | ${epoch} | a | b | c | e`,
  ]);
  assert.equal(await printed('audit-tail', { count: 1 }, {}, { width: 80 }), [
    'seq | at | action | actor | target',
    ' | 1 | 1970-01-01T00:00:00Z | a | b | c',
  ]);
});

const summary = [{ eventType: 'report_cheating' as const, week: '2026-W01', count: 4 }];
const known: Partial<OperatorApi> = {
  trust: () => trust,
  explain: () => explanation,
  playerEvents: async () => granted({ total: 4, summarised: 4, summary, own: [], next: null }),
  allowedPlayer: () => ({ subject: hash, entryId: 'entry', until: 0, note: 'note' }),
};

test('a player is printed with its evidence, split by direction only from three peers on', async () => {
  const lines = await printed('player', { player_id: hash }, known);
  assert.match(lines[4]!, /^why \| \w/);
  assert.equal(lines.toSpliced(4, 1), [
    `subject | ${hash}`,
    `verdict | untrusted, on the allow list until ${epoch}`,
    'score | 12.5',
    'confidence | 0.50',
    'events | 4',
    'peers | 3, pre-trusted ones among them',
    'witnesses | 3',
    'lowering | 3.00',
    'raising | 1.00',
    `changed | ${epoch}`,
    '',
    'reported | week | events',
    'report_cheating | 2026-W01 | 4',
  ]);
  const few = await printed(
    'player',
    { player_id: hash },
    {
      ...known,
      explain: () => ({ ...explanation, peers: 2, preTrusted: false }),
      playerEvents: async () => granted({ total: 0, summarised: 0, summary: [], own: [], next: null }),
      allowedPlayer: () => undefined,
    },
  );
  assert.equal(
    [few[1], few[6], few[8], few.at(-1)],
    ['verdict | untrusted', 'peers | 2', 'lowering | not shown with fewer than 3 peers', `changed | ${epoch}`],
  );
  const unknown = { ...known, trust: () => undefined };
  assert.equal(await printed('player', { player_id: hash }, unknown), ['player_not_found', '']);
  assert.equal((await printed('player', { player_id: 'a' }, known))[0], 'player_id_not_canonical');
});

test('changes are printed in three tables, with the number of unlisted rows', () => {
  const none = { trusted: 0, neutral: 0, suspicious: 0, untrusted: 0 };
  const read = { score: 12.345, confidence: 0.5, verdict: 'untrusted' } as const;
  const value: SimulationValue = {
    seq: 9,
    at: '2026-01-01T00:00:00.000Z',
    players: 10,
    changed_count: 3,
    changed: [
      {
        subject_hash: '5f'.repeat(32),
        event_count: 4,
        before: read,
        after: { ...read, score: 31, verdict: 'suspicious' },
      },
    ],
    verdicts: { trusted: none, neutral: none, suspicious: none, untrusted: { ...none, suspicious: 3, untrusted: 7 } },
    peers: [{ peer_id: 'peer-0', peer_name: 'P\u001b', weight_before: 0.7, weight_after: 0 }],
  };
  assert.equal(simulationOperations.simulate.ptf[0]!.show(value, 200).slice(5), [
    'before     after       players',
    'untrusted  suspicious        3',
    '',
    'peer    weight  then   name',
    'peer-0  0.700   0.000  P<1b>',
    '',
    `player${' '.repeat(60)}events  before     score  after       then   confidence`,
    `${'5f'.repeat(32)}       4  untrusted  12.35  suspicious  31.00  0.50`,
    '',
    '1 of them listed; see --rows',
  ]);
});

test.run();
