/** The correct import of the sample lists: EXPECTED.md as tests. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { A, B, brief, C, D, eventAbout, plan, sample, samples } from './plans.js';

const expected =
  samples === undefined ? () => process.stdout.write('SKIPPED: PTF_SHARED_DATA has no ban lists\n') : null;
const rule = (name: string, check: () => void) => test(name, expected ?? check);

const M1 = '0a0b0c0d-1111-4222-8333-444455556601';
const M2 = '0a0b0c0d-1111-4222-8333-444455556602';
const eos = '0002aaaabbbbccccddddeeeeffff0001';
const started = '2026-11-20T12:00:00.000Z';

rule('of a Minecraft list the offline account is refused and the ban that is over is not sent', () => {
  const list = plan(sample('minecraft-banned-players.json'));
  assert.is(list.format, 'minecraft');
  assert.equal(brief(list), [`2 ${M1} send`, `10 ${M2} send`, '26 2535400000000123 expired']);
  assert.equal(
    list.events.map(({ banned_at }) => banned_at),
    [started, started, started],
  );
  assert.equal([list.events[0]!.expires_at, list.events[1]!.expires_at], [null, '2026-12-20T12:00:00.000Z']);
  assert.equal(
    list.events.map(({ kind }) => kind),
    ['minecraft', 'minecraft', 'xbox'],
  );
  assert.equal(
    list.refused.map(({ line }) => line),
    [18],
  );
  assert.match(list.refused[0]!.reason, /^minecraft_offline: /);
});

rule('an offline account of a Minecraft list is bound to the server that the caller names', () => {
  const list = plan(sample('minecraft-banned-players.json'), { offlineServer: 'survival' });
  assert.is(list.events[2]!.player_id, 'minecraft-offline:survival:6fd4503c-40a5-3580-8bff-1eb3bc47f86d');
  assert.is(list.events[2]!.state, 'faded');
  assert.equal(list.refused, []);
});

rule('of a LiteBans export 0 and -1 are permanent, an inactive ban is lifted, and an IP ban is refused', () => {
  const list = plan(sample('litebans_bans.csv'), { name: 'litebans_bans.csv' });
  assert.is(list.format, 'litebans');
  assert.equal(brief(list), [`2 ${M1} send`, `3 ${M2} lifted`, `5 ${M1} faded`]);
  assert.equal(
    list.events.map(({ banned_at, expires_at }) => [banned_at, expires_at]),
    [
      [started, null],
      ['2026-11-20T12:00:00.250Z', '2026-11-27T12:00:00.000Z'],
      ['2021-03-01T00:00:00.000Z', null],
    ],
  );
  assert.equal(
    list.refused.map(({ line }) => line),
    [4],
  );
});

rule('in a Source list each person is one event, and other entries are refused with their line', () => {
  const list = plan(sample('source-banned_user.cfg'));
  assert.is(list.format, 'source');
  assert.equal(brief(list), [`2 ${A} send`, `3 ${B} send`, `4 ${C} send`, `5 ${D} send`]);
  assert.match(list.events[0]!.note!, 'line 6');
  assert.match(list.events[3]!.note!, 'a start that the list does not state');
  assert.equal(
    list.refused.map(({ line }) => line),
    [7, 8, 9],
  );
});

rule('of a SourceBans table one ban stands; the others are lifted, over, deleted or of an address', () => {
  const list = plan(sample('sourcebanspp-sb_bans.csv'));
  assert.is(list.format, 'sourcebans');
  assert.equal(brief(list), [`2 ${A} send`, `3 ${B} lifted`, '4 76561202255225731 expired', `6 ${D} lifted`]);
  assert.equal([list.events[0]!.banned_at, list.events[0]!.expires_at], [started, null]);
  assert.equal(
    list.refused.map(({ line }) => line),
    [5],
  );
});

rule('in a Squad list far ends are permanent, game kicks are no evidence, and no admin is reported', () => {
  const list = plan(sample('squad-Bans.cfg'));
  assert.is(list.format, 'squad');
  assert.equal(brief(list), [`2 ${A} send`, `3 ${B} send`, `4 ${eos} send`, `6 ${C} expired`, `9 ${D} send`]);
  assert.equal(
    list.events.map(({ expires_at }) => expires_at),
    [null, '2026-12-20T12:00:00.000Z', null, '2021-03-01T00:00:00.000Z', null],
  );
  assert.equal(
    list.refused.map(({ line }) => line),
    [7],
  );
  assert.not.match(JSON.stringify(list), '76561202255225827');
});

rule('of a Rust list quotes may hold anything, and -1 or nothing is permanent', () => {
  const list = plan(sample('rust-bans.cfg'));
  assert.is(list.format, 'rust');
  assert.equal(brief(list), [`1 ${A} send`, `2 ${B} send`, `3 ${C} expired`, `4 ${D} send`]);
  assert.equal(
    list.events.map(({ expires_at }) => expires_at),
    [null, '2026-12-20T12:00:00.000Z', '2021-03-01T00:00:00.000Z', null],
  );
  assert.equal(list.refused, []);
});

rule('of a TF2 Bot Detector list integers keep all digits, and a suspicious player is not reported', () => {
  const list = plan(sample('tf2bd-playerlist.json'));
  assert.is(list.format, 'tf2bd');
  assert.equal(brief(list), [`5 ${A} send`, `7 ${C} send`, `8 ${D} send`]);
  assert.ok(list.events.every(({ banned_at, expires_at }) => banned_at === null && expires_at === null));
  assert.equal(
    list.refused.map(({ line }) => line),
    [6],
  );
});

rule('of a txAdmin database one person is one event, and warnings and revoked bans are not sent', () => {
  const list = plan(sample('txadmin-playersDB.json'));
  assert.is(list.format, 'txadmin');
  assert.equal(brief(list), [
    `2 ${A} send`,
    '3 license:00000000000000000000000000000000000000a2 lifted',
    `5 ${B} send`,
  ]);
  assert.equal([list.events[0]!.banned_at, list.events[0]!.expires_at], [started, null]);
  assert.is(list.events[2]!.expires_at, '2026-12-20T12:00:00.000Z');
  assert.equal(
    list.refused.map(({ line }) => line),
    [4],
  );
  assert.not.match(JSON.stringify(list), '00b1');
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

rule('of a BattleMetrics page both bans of one person stand, and addresses are passed over', () => {
  const list = plan(sample('battlemetrics-bans.json'));
  assert.is(list.format, 'battlemetrics');
  assert.equal(brief(list), [`2 ${A} send`, `3 ${A} send`, `4 ${eos} expired`]);
  assert.is(eventAbout(list, eos).kind, 'eos');
  assert.not.match(JSON.stringify(list), '198.51.100.77');
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

rule('no name, reason, address or admin of a list appears in its plan', () => {
  const files = [
    ['minecraft-banned-players.json', 'TestCheater|Nom_|X-Ray|ModName'],
    ['litebans_bans.csv', 'Hacked|ModName|198\\.51|appeal|4444555566ff'],
    ['source-banned_user.cfg', 'wallz|header'],
    ['sourcebanspp-sb_bans.csv', 'Player One|Aimbot|198\\.51|192\\.0|appeal'],
    ['squad-Bans.cfg', 'Cheating|225827|Griefing|Teamkill'],
    ['rust-bans.cfg', 'Player|Aimbot|Toxic|unnamed'],
    ['tf2bd-playerlist.json', 'Rich|example\\.net|invented'],
    ['txadmin-playersDB.json', 'Test|mod menu|RDM|"admin"'],
    ['battlemetrics-bans.json', 'Player One|example\\.net|same admin|198\\.51'],
  ] as const;
  for (const [name, secret] of files) {
    assert.not.match(JSON.stringify(plan(sample(name), { name })), new RegExp(secret), name);
  }
});

test.run();
