/** The correct import of the sample lists: EXPECTED.md as tests. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { A, B, brief, C, D, plan, sample, samples } from './plans.js';

const expected =
  samples === undefined ? () => process.stdout.write('SKIPPED: PTF_SHARED_DATA has no ban lists\n') : null;
const rule = (name: string, check: () => void) => test(name, expected ?? check);

const M1 = '0a0b0c0d-1111-4222-8333-444455556601';
const M2 = '0a0b0c0d-1111-4222-8333-444455556602';
const eos = '0002aaaabbbbccccddddeeeeffff0001';
const [begun, ends] = ['2026-11-20T12:00:00.000Z', '2026-12-20T12:00:00.000Z'] as const;
const [license, old] = ['license:00000000000000000000000000000000000000a2', '2021-03-01T00:00:00.000Z'] as const;

interface Expected {
  readonly file: string;
  /** The events as `line id begin end state`. */
  readonly events: readonly string[];
  readonly refused: readonly number[];
  /** Words of the list about others, or beside its bans, which its plan must not repeat. */
  readonly secret: RegExp;
}

const expectations: Readonly<Record<string, Expected>> = {
  'minecraft: the offline account is refused and the ban that is over is not sent': {
    file: 'minecraft-banned-players.json',
    events: [
      `2 ${M1} ${begun} null send`,
      `10 ${M2} ${begun} ${ends} send`,
      `26 2535400000000123 ${begun} 2026-11-22T00:00:00.000Z expired`,
    ],
    refused: [18],
    secret: /TestCheater|Nom_|X-Ray|ModName/,
  },
  'litebans: 0 and -1 are permanent, an inactive ban is lifted, and an IP ban is refused': {
    file: 'litebans_bans.csv',
    events: [
      `2 ${M1} ${begun} null send`,
      `3 ${M2} 2026-11-20T12:00:00.250Z 2026-11-27T12:00:00.000Z lifted`,
      `5 ${M1} ${old} null faded`,
    ],
    refused: [4],
    secret: /Hacked|ModName|198\.51|appeal|4444555566ff/,
  },
  'source: each person is one event, and other entries are refused with their line': {
    file: 'source-banned_user.cfg',
    events: [A, B, C, D].map((id, i) => `${i + 2} ${id} null null send`),
    refused: [7, 8, 9],
    secret: /wallz|header/,
  },
  'sourcebans: one ban stands; the others are lifted, over, deleted or of an address': {
    file: 'sourcebanspp-sb_bans.csv',
    events: [
      `2 ${A} ${begun} null send`,
      `3 ${B} ${begun} 2026-11-27T12:00:00.000Z lifted`,
      `4 ${C} ${old} 2021-03-02T00:00:00.000Z expired`,
      `6 ${D} ${begun} null lifted`,
    ],
    refused: [5],
    secret: /Player One|Aimbot|198\.51|192\.0|appeal/,
  },
  'squad: far ends are permanent, game kicks are no evidence, and no admin is reported': {
    file: 'squad-Bans.cfg',
    events: [
      `2 ${A} null null send`,
      `3 ${B} null ${ends} send`,
      `4 ${eos} null null send`,
      `6 ${C} null ${old} expired`,
      `9 ${D} null null send`,
    ],
    refused: [7],
    secret: /Cheating|225827|Griefing|Teamkill/,
  },
  'rust: quotes may hold anything, and -1 or nothing is permanent': {
    file: 'rust-bans.cfg',
    events: [
      `1 ${A} null null send`,
      `2 ${B} null ${ends} send`,
      `3 ${C} null ${old} expired`,
      `4 ${D} null null send`,
    ],
    refused: [],
    secret: /Player|Aimbot|Toxic|unnamed/,
  },
  'tf2bd: integers keep all digits, and a suspicious player is not reported': {
    file: 'tf2bd-playerlist.json',
    events: [`5 ${A} null null send`, `7 ${C} null null send`, `8 ${D} null null send`],
    refused: [6],
    secret: /Rich|example\.net|invented/,
  },
  'txadmin: one person is one event, and warnings and revoked bans are not sent': {
    file: 'txadmin-playersDB.json',
    events: [`2 ${A} ${begun} null send`, `3 ${license} ${begun} ${ends} lifted`, `5 ${B} ${begun} ${ends} send`],
    refused: [4],
    secret: /Test|mod menu|RDM|"admin"|00b1/,
  },
  'battlemetrics: both bans of one person stand, and addresses are passed over': {
    file: 'battlemetrics-bans.json',
    events: [
      `2 ${A} ${begun} null send`,
      `3 ${A} 2026-11-20T12:00:05.000Z ${ends} send`,
      `4 ${eos} ${old} 2021-04-01T00:00:00.000Z expired`,
    ],
    refused: [],
    secret: /Player One|example\.net|same admin|198\.51/,
  },
};

for (const [what, { file, events, refused, secret }] of Object.entries(expectations)) {
  rule(what, () => {
    // Only a list of LiteBans needs its name, which tells bans from mutes.
    const list = plan(sample(file), file.startsWith('litebans') ? { name: file } : {});
    assert.is(list.format, what.split(':')[0]);
    const found = list.events.map((one) =>
      [one.line, one.player_id, one.banned_at, one.expires_at, one.state].map(String).join(' '),
    );
    assert.equal(found, events);
    assert.equal(
      list.refused.map(({ line }) => line),
      refused,
    );
    assert.not.match(JSON.stringify(list), secret);
  });
}

rule('a note names the lines that repeat a ban, and a length from a start that the list does not state', () => {
  const { events } = plan(sample('source-banned_user.cfg'));
  assert.match(events[0]!.note!, 'line 6');
  assert.match(events[3]!.note!, 'a start that the list does not state');
});

rule('the kind of each id of a list with several kinds is stated, and so is why an id is refused', () => {
  const list = plan(sample('minecraft-banned-players.json'));
  assert.equal(
    list.events.map(({ kind }) => kind),
    ['minecraft', 'minecraft', 'xbox'],
  );
  assert.match(list.refused[0]!.reason, /^minecraft_offline: /);
  assert.is(plan(sample('battlemetrics-bans.json')).events.at(-1)?.kind, 'eos');
});

rule('an offline account of a Minecraft list is bound to the server that the caller names', () => {
  const list = plan(sample('minecraft-banned-players.json'), { offlineServer: 'survival' });
  assert.is(list.events[2]!.player_id, 'minecraft-offline:survival:6fd4503c-40a5-3580-8bff-1eb3bc47f86d');
  assert.is(list.events[2]!.state, 'faded');
  assert.equal(list.refused, []);
});

rule('of a person with several ids the first kind of the group counts', () => {
  const names = (kinds: string[]) =>
    plan(sample('txadmin-playersDB.json'), { kinds }).events.map((one) => one.player_id);
  assert.equal(names(['discord', 'steam'])[0], 'discord:100000000000000001');
  assert.equal(names(['xbox']), ['2535400000000123']);
  assert.equal(names(['license'])[0], 'license:00000000000000000000000000000000000000a1');
});

rule('a person with ids of several kinds of the group is one event for each kind', () => {
  const list = plan(sample('txadmin-playersDB.json'), { kinds: ['steam', 'discord', 'xbox'] });
  assert.equal(brief(list), [
    `2 ${A} send`,
    '2 discord:100000000000000001 send',
    '2 2535400000000123 send',
    `5 ${B} send`,
  ]);
});

rule('each Steam form of the id forms ends as one player', () => {
  const list = plan(sample('id-forms.csv'));
  assert.is(list.format, 'csv');
  assert.equal(
    list.events.map(({ player_id }) => player_id),
    [A, M1, '2535400000000123', eos],
  );
  assert.equal(
    list.refused.map(({ reason }) => reason.split(':')[0]),
    ['kind_needed', 'battleye_guid', 'minecraft_offline', 'minecraft_offline'],
  );
});

test.run();
