/** The correct import of the second set of sample lists: its EXPECTED.md as tests, and each sample damaged. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { brief, type Given, importPlan, type PlanDocument, plan, sample, samples2 } from './plans.js';

const skipped =
  samples2 === undefined
    ? () => process.stdout.write('SKIPPED: PTF_SHARED_DATA has no second set of ban lists\n')
    : null;
const rule = (name: string, check: () => void) => test(name, skipped ?? check);

const now = Date.UTC(2026, 10, 27);
const [P, Q, R] = ['76561202255215729', '76561202255215730', '76561202255215731'] as const;
const U = (n: number) => `0a0b0c0d-1111-4222-8333-4444555566${n}`;
const L = (n: number) => `license:${n}123456789abcdef0123456789abcdef01234567`;
const eos = '0002aaaabbbbccccddddeeeeffff0009';
const [begin, until] = ['2026-11-20T12:00:00.000Z', '2026-12-20T12:00:00.000Z'] as const;

function read(name: string, options: Given = {}): PlanDocument {
  return plan(sample(name, samples2), { now, name, ...options });
}

/** The events as `id begin end state`. */
function bans({ events }: PlanDocument): string[] {
  return events.map(
    ({ player_id, banned_at, expires_at, state }) => `${player_id} ${banned_at} ${expires_at} ${state}`,
  );
}

function reasons({ refused }: PlanDocument): string {
  return refused.map(({ line, reason }) => `${line} ${reason}`).join('\n');
}

rule('AdvancedBan: mutes, warnings and kicks are left out by name, and an IP ban is refused', () => {
  const list = read('advancedban-punishments.csv');
  assert.equal(bans(list), [`${U(11)} ${begin} null send`, `${U(12)} ${begin} ${until} send`]);
  assert.equal(list.left_out, { mute: 1, warning: 1, kick: 1 });
  assert.match(reasons(list), /^4 a mute .*\n5 a warning .*\n6 a kick .*\n7 an IP ban names no player$/);
});

rule('SourceBans++ comms: mutes and gags are no bans', () => {
  const list = read('sourcebanspp-sb_comms.csv');
  assert.equal([list.events.length, list.left_out], [0, { mute: 1, gag: 1 }]);
  assert.not.match(reasons(list), 'IP ban');
});

rule('LiteBans: the name of the list, or a choice, tells bans from mutes', () => {
  const named = read('litebans_mutes.csv');
  assert.equal([named.events.length, named.left_out], [0, { mute: 1 }]);
  const text = sample('litebans_mutes.csv', samples2);
  assert.throws(() => plan(text, { name: 'export.csv' }), /do not tell bans from mutes/);
  assert.equal(brief(plan(text, { now, name: 'export.csv' }, 'litebans')), [`2 ${U(11)} send`]);
  assert.equal(brief(plan(text, { now, name: 'litebans_bans.csv' })), [`2 ${U(11)} send`]);
});

rule('AMXBans: 0 minutes are permanent, others run from the begin, and expired ones are over', () => {
  const began = new Date(1_788_264_000_000).toISOString();
  const ended = new Date(1_788_264_000_000 + 3_600_000).toISOString();
  assert.equal(bans(read('amxbans-amx_bans.csv')), [
    `${P} ${begin} null send`,
    `${Q} ${began} ${ended} expired`,
    `${R} ${begin} ${until} send`,
  ]);
});

rule('ULX: 0 is permanent, and a past end is over', () => {
  assert.equal(bans(read('ulx-ulib_bans.csv')), [
    `${P} ${begin} null send`,
    `${Q} ${begin} ${until} send`,
    `${R} ${begin} 2026-11-22T12:00:00.000Z expired`,
  ]);
});

rule('QBCore: the export and the dump of its table give the same bans, and neither is SourceBans++', () => {
  const list = read('qbcore-bans.csv');
  assert.equal(bans(list), [
    `${L(0)} null null send`,
    `${L(1)} null ${until} send`,
    `${L(2)} null 2026-11-22T12:00:00.000Z expired`,
  ]);
  const dump = read('qbcore-bans.sql');
  assert.equal([bans(dump), dump.format], [bans(list).slice(0, 2), 'qbcore-sql']);
  assert.equal([list.refused, dump.refused], [[], []]);
});

rule('bare ids and ids with a platform before or behind them are players', () => {
  assert.equal(
    bans(read('bare-steamid64.txt')),
    [P, Q, R].map((id) => `${id} null null send`),
  );
  assert.ok(read('bare-steamid64.txt').events.every(({ note }) => note === 'the list states no dates'));
  const detected = importPlan(sample('bare-steamid64.txt', samples2), { name: 'bare-steamid64.txt' });
  assert.is(detected.format, 'ids');
  assert.equal(brief(read('palworld-banlist.txt')), [`1 ${P} send`, `2 ${Q} send`]);
  assert.equal(brief(read('id-spellings-platform-prefix.csv')), [
    `2 ${P} send`,
    `3 ${eos} send`,
    '4 2535400000000124 send',
    `5 ${Q} send`,
    `6 ${R} send`,
  ]);
});

rule('7 Days to Die: only the blacklist is read, in both of its forms', () => {
  const list = read('7dtd-serveradmin.xml');
  assert.equal(bans(list), [
    `${P} null 2036-11-20T12:00:00.000Z send`,
    `${eos} null ${until} send`,
    `${Q} null 2026-11-22T12:00:00.000Z expired`,
  ]);
  assert.equal(list.refused, []);
  assert.not.match(JSON.stringify(list), '215827');
});

rule('EasyAdmin: an end in the year 2300 is permanent, and each entry is one person', () => {
  assert.equal(bans(read('easyadmin-banlist.json')), [
    '76561202255215793 null null send',
    `${L(1)} null ${until} send`,
    `${L(2)} null 2026-11-22T12:00:00.000Z expired`,
  ]);
});

rule('TShock: addresses, names of one server and digests of clients are refused by these reasons', () => {
  const list = read('tshock-PlayerBans.csv');
  assert.is(list.events.length, 0);
  assert.match(reasons(list), /^2 local_name: .*one server.*\n3 client_digest: .*\n4 address: /);
});

rule('Factorio and BattlEye: names, GUIDs and addresses are refused by these reasons', () => {
  const names = read('factorio-server-banlist.json');
  assert.equal([names.events.length, names.refused.length], [0, 3]);
  assert.match(reasons(names), /(?:a name is not an id[\s\S]*){3}/);
  const guids = read('battleye-rcon-bans-37.txt');
  assert.equal([guids.events.length, guids.refused.length], [0, 3]);
  assert.match(reasons(guids), /^4 battleye_guid: .*\n5 battleye_guid: .*\n10 address: /);
});

rule('BanManager: a column of SQL is read by its name', () => {
  assert.equal(bans(read('banmanager-select-679.csv')), [`${U(11)} null null send`, `${U(12)} null ${until} send`]);
});

rule('dates in an order that two readings allow are refused with the form that is wanted', () => {
  const list = read('csv-local-dates.csv');
  assert.equal([list.events.length, list.refused.length], [0, 2]);
  assert.match(reasons(list), /^2 .*2026-11-20T12:00:00Z\n3 .*2026-11-20T12:00:00Z$/);
});

const files = [
  'advancedban-punishments.csv',
  'sourcebanspp-sb_comms.csv',
  'litebans_mutes.csv',
  'amxbans-amx_bans.csv',
  'ulx-ulib_bans.csv',
  'qbcore-bans.csv',
  'qbcore-bans.sql',
  'bare-steamid64.txt',
  'palworld-banlist.txt',
  '7dtd-serveradmin.xml',
  'easyadmin-banlist.json',
  'id-spellings-platform-prefix.csv',
  'tshock-PlayerBans.csv',
  'factorio-server-banlist.json',
  'banmanager-select-679.csv',
  'battleye-rcon-bans-37.txt',
  'csv-local-dates.csv',
];

rule('cut anywhere, no sample gives a ban that the whole one does not contain', () => {
  for (const name of files) {
    const bytes = sample(name, samples2);
    const whole = importPlan(bytes, { now, name });
    const known = new Set(bans(read(name)));
    for (let length = 1; length < bytes.length; length += 3) {
      let cut: PlanDocument;
      try {
        cut = plan(bytes.subarray(0, length), { now, name }, whole.format);
      } catch (error) {
        assert.is((error as { exitCode?: number }).exitCode, 4, `${name} ${length}: ${(error as Error).stack}`);
        continue;
      }
      for (const ban of bans(cut)) assert.ok(known.has(ban), `${name} cut at ${length}: ${ban}`);
    }
  }
});

rule('a cell that looks like an end, a type or a removal stops the import of every table', () => {
  const tables = files.filter((name) => name.endsWith('.csv') && name !== 'csv-local-dates.csv');
  for (const name of tables) {
    const [header = '', ...rows] = sample(name, samples2).toString().trimEnd().split('\n');
    for (const cell of ['unbanned_on', 'ban_state', 'PunishType', 'duration_s', 'revoked_by', 'is_permanent']) {
      const text = [`${header},${cell}`, ...rows.map((row) => `${row},1`), ''].join('\n');
      assert.throws(() => plan(text, { now, name }), new RegExp(`${cell}.*--ignore`, 'i'), `${name} ${cell}`);
      assert.equal(bans(plan(text, { now, name, ignore: [cell.toLowerCase()] })), bans(read(name)));
    }
    const named = plan([`${header},favourite_colour`, ...rows.map((row) => `${row},1`), ''].join('\n'), { now, name });
    assert.ok(named.unknown_cells?.includes('favourite_colour'), name);
  }
});

test.run();
