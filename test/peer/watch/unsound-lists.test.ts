/** A watch of a list that is missing, being written, damaged or of another form, and of a node that refuses it. */
import { mkdirSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { bounds } from '../../../src/client/bounds.js';
import { type PeerError, wrongUsage } from '../../../src/peer/peer-error.js';
import { unreachable } from '../../../src/peer/sources/decode.js';
import { sourceOf } from '../../../src/peer/sources/source.js';
import type { WatchOptions } from '../../../src/peer/watch/list-watch.js';
import { until } from '../../support/until.js';
import { groupAnswer } from '../fake-node.js';
import { lists } from '../formats/lists.js';
import { ids, Watch } from './watch-double.js';

const watches: Watch[] = [];
test.after(async () => {
  for (const watch of watches) await watch.close();
});

function begun(text?: string): Watch {
  const watch = new Watch();
  watches.push(watch);
  if (text !== undefined) writeFileSync(watch.path, text);
  return watch;
}

/** Runs a watch until it ends by itself, and returns its error. */
function errorOf(watch: Watch, more: Partial<WatchOptions> = {}): Promise<PeerError> {
  const running = watch.run(() => watch.untilStill(() => hasEnded), more);
  let hasEnded = false;
  return running.then(
    () => assert.unreachable('the watch ended without an error') as never,
    (error) => {
      hasEnded = true;
      return error;
    },
  );
}

async function failure(watch: Watch, more: Partial<WatchOptions> = {}): Promise<[code: string, exitCode: number]> {
  const { code, exitCode } = await errorOf(watch, more);
  return [code, exitCode];
}

const refusal = { status: 403, body: { code: 'peer_not_active', error: 'no' } };
const minecraft = lists.minecraft!;
const sourcebans = lists.sourcebans!;

test('a list that is missing, empty or begun is waited for, and one of no known format ends the watch', async () => {
  const watch = begun();
  await watch.run(async () => {
    await watch.said(`${watch.path} does not exist: waiting until a program writes it`);
    await watch.untilLooked();
    writeFileSync(watch.path, '');
    await watch.untilLooked();
    await watch.untilStill(() => true);
    await watch.untilLooked();
    writeFileSync(watch.path, 'a diary\n');
    await watch.untilLooked();
    watch.write(...ids);
    assert.equal(await watch.said('reported 5 bans'), ['reported 5 bans']);
  });
  assert.equal(await failure(begun('a diary\n')), ['format_not_recognised', 4]);
  assert.equal(await failure(begun('a diary\n'), { format: 'no-such' }), ['wrong_usage', 2]);
});

test('a watch of accounts ends in a group that knows players by tokens, which no list holds', async () => {
  const watch = begun();
  watch.write(...ids);
  watch.refuses = ({ path }) =>
    path.startsWith('/api/v1/peers') ? groupAnswer({ identity_mode: 'high-security' }) : undefined;
  assert.equal(await failure(watch), ['wrong_usage', 2]);
  assert.equal([watch.reported, watch.lines], [[], []]);
});

test('a watch with a salt of another group reports nothing, also if it knew the kinds of ids before', async () => {
  const watch = begun('');
  await watch.run(() => watch.untilLooked());
  watch.write(...ids);
  let asked = 0;
  let isOther = true;
  watch.refuses = ({ path }) => {
    if (!isOther || !path.startsWith('/api/v1/peers')) return undefined;
    asked++;
    return groupAnswer({ salt_check: '00000000' });
  };
  await watch.run(async () => {
    await until(() => asked > 2);
    assert.match(watch.lines.splice(0).join('\n'), /^the salt is not that of the group .* \(salt_mismatch\)$/);
    isOther = false;
    await watch.said('reported 5 bans');
  });
});

test('bans of the first start are known as a whole, also where the last line has no line break yet', async () => {
  const watch = begun(`steam_id\n${ids.slice(0, 3).join('\n')}`);
  await watch.run(
    async () => {
      await watch.untilLooked();
      await watch.untilStill(() => watch.lines.length > 0);
      assert.equal(watch.lines.splice(0), ['3 bans of the list are known']);
      watch.write(...ids);
      await watch.said('reported 2 bans');
    },
    { newOnly: true },
  );
});

test('a watch that fails leaves its withdrawals to the next one, and says nothing about its own end', async () => {
  const watch = begun();
  watch.write(...ids);
  await watch.run(async () => {
    await watch.said('reported 5 bans');
    await watch.untilPresent();
    watch.refuses = ({ method }) => (method === 'DELETE' ? refusal : undefined);
    watch.write(...ids.slice(1));
    await watch.untilStill(() => watch.lines.length > 0);
  });
  writeFileSync(watch.path, 'a diary\n');
  assert.equal(await failure(watch, { format: 'no-such' }), ['wrong_usage', 2]);
  assert.not.match(watch.lines.join(), 'closed');
  watch.write(...ids.slice(1));
  watch.refuses = () => undefined;
  await watch.run(() => until(() => watch.withdrawn.length === 1));
});

test('a list that cannot be read for a while lifts nothing, is said once, and is no problem of the end', async () => {
  const watch = begun();
  watch.write(...ids);
  const fails = async () => Promise.reject(unreachable('the list is away'));
  const source = await sourceOf([watch.path], false, {});
  await watch.run(async () => {
    await watch.said('reported 5 bans');
    await watch.untilPresent();
    rmSync(watch.path);
    mkdirSync(watch.path);
    await watch.said(`${watch.path} cannot be read: EISDIR; nothing is withdrawn`);
    await watch.untilLooked();
    rmdirSync(watch.path);
    watch.write(...ids);
    assert.equal(await watch.said('the list can be read again'), ['the list can be read again']);
  });
  const away = { ...source, isPlainFile: false, read: fails };
  await watch.run(async () => void (await watch.said('the list is away; nothing is withdrawn')), { source: away });
  let isAsked = false;
  const read = (signal: AbortSignal) => {
    isAsked = true;
    return new Promise<never>((_, fail) => signal.addEventListener('abort', () => fail(unreachable('cut off'))));
  };
  await watch.run(() => until(() => isAsked), { source: { ...source, isPlainFile: false, read } });
  assert.equal([watch.withdrawn, watch.lines], [[], []]);
  const never = { ...source, isPlainFile: false, read: async () => Promise.reject(wrongUsage('never')) };
  assert.equal(await failure(watch, { source: never }), ['wrong_usage', 2]);
});

test('a document is read again once it is complete, and a ban that is missing until then is not lifted', async () => {
  const watch = begun(minecraft(4));
  await watch.run(async () => {
    await watch.said('reported 4 bans');
    writeFileSync(watch.path, minecraft(4).slice(0, 400));
    await watch.untilLooked();
    writeFileSync(watch.path, minecraft(5));
    assert.equal(await watch.said('reported 1 bans'), ['reported 1 bans']);
  });
  assert.equal(watch.withdrawn, []);
});

test('an XML list is whole once its root ends, whatever the comments before and behind it show', async () => {
  const watch = begun();
  const ban = `<blacklisted platform="Steam" userid="${ids[0]}" unbandate="2027-01-01 00:00:00"/>`;
  const list = `<!-- for example:\n  <blacklisted platform="Steam"/> -->\n<adminTools><blacklist>${ban}</blacklist></adminTools>\n<!-- saved -->\n`;
  writeFileSync(watch.path, list.slice(0, -21));
  await watch.run(async () => {
    await watch.untilLooked();
    writeFileSync(watch.path, list);
    assert.equal(await watch.said('reported 1 bans'), ['reported 1 bans']);
  });
});

test('a damaged document that is written again and again is named, and what stands before it reported', async () => {
  const versions = [minecraft(3), minecraft(4)].map((list) => `${list.trimEnd().slice(0, -1)},]`);
  const watch = begun(versions[1]);
  let written = 0;
  await watch.run(async () => {
    await watch.untilStill(() => {
      writeFileSync(watch.path, versions[written++ % 2]!);
      return watch.lines.length > 1;
    }, bounds.listTailMs / 5);
    assert.match(watch.lines[0]!, /the JSON is damaged here/);
    assert.match(watch.lines[1]!, /^reported [34] bans$/);
  });
});

test('a document that stays broken is named once until it changes, and lifts nothing', async () => {
  const blacklist = (...accounts: readonly string[]) => {
    const bans = accounts.map(
      (id) => `\n<blacklisted platform="Steam" userid="${id}" unbandate="2027-01-01 00:00:00"/>`,
    );
    return `<adminTools><blacklist>${bans.join('')}\n</blacklist></adminTools>\n`;
  };
  const lifts = 'so that nothing from this entry on can be read; no ban counts as lifted because it is missing';
  for (const [list, broken, said] of [
    [minecraft(4), `${minecraft(3).trimEnd().slice(0, -1)},]`, `the JSON is damaged here, ${lifts}`],
    [minecraft(4), minecraft(4).slice(0, 400), `the JSON is damaged here, ${lifts}`],
    [minecraft(4), 'Internal error', `line 1: the JSON is damaged here, ${lifts}`],
    [minecraft(4), '', `line 1: the JSON is damaged here, ${lifts}`],
    [
      blacklist(...ids),
      blacklist(...ids).slice(0, 200),
      `the XML is damaged here, ${lifts.replace('this entry', 'here')}`,
    ],
    [blacklist(...ids), 'Internal error', 'line 1: the XML is damaged here'],
    [blacklist(...ids), '<!-- saved -->\n', 'the XML is damaged here'],
  ] as const) {
    const watch = begun(list);
    const has = () => watch.lines.some((line) => line.includes(said));
    await watch.run(async () => {
      await until(() => watch.lines.some((line) => line.startsWith('reported')));
      await watch.untilPresent();
      watch.lines.length = 0;
      writeFileSync(watch.path, broken);
      await watch.untilLooked();
      assert.equal(watch.lines, [], 'it may be being written');
      await watch.untilStill(has);
      await watch.untilStill(() => true);
      await watch.untilLooked();
      assert.is(watch.lines.length, 1, `named once: ${watch.lines.join(' | ')}`);
      writeFileSync(watch.path, list);
      await watch.untilLooked();
      writeFileSync(watch.path, broken);
      await watch.untilStill(() => watch.lines.length === 2);
      const { standing } = await watch.state();
      assert.ok([...standing.values()].every(({ mark }) => mark === 'present'));
    });
    assert.equal(watch.withdrawn, []);
  }
});

test('a hostile entry in the place of bans is named with its line, and lifts none of them', async () => {
  const [long, sql] = ['x'.repeat(16 * 1024 * 1024), lists['sourcebans-sql']!];
  const json = (tail: string) => `${minecraft(3).trimEnd().slice(0, -1)},\n${tail}]`;
  const lines = (list: string) => list.split('\n').length;
  for (const [list, hostile, line] of [
    [minecraft(4), json(`{"reason":"${long}"}`), lines(minecraft(3))],
    [minecraft(4), json(`{"reason":[${'[],'.repeat(bounds.listCell)}1]}`), lines(minecraft(3))],
    [sourcebans(4), `${sourcebans(3)}${','.repeat(2 * bounds.listCell)}\n`, lines(sourcebans(3))],
    [sql(4), `${sql(3)}/*\n`, lines(sql(3))],
    [sql(4), `${sql(3)}INSERT INTO sb_bans VALUES (${'1,'.repeat(bounds.listCell)}1);\n`, lines(sql(3))],
  ] as const) {
    const watch = begun(list);
    await watch.run(async () => {
      await watch.said('reported 4 bans');
      await watch.untilPresent();
      writeFileSync(watch.path, hostile);
      await watch.untilStill(() => watch.lines.length > 0);
      await watch.untilStill(() => true);
      await watch.untilLooked();
      assert.match(watch.lines.join(' | '), new RegExp(`^line ${line}: .* no ban counts as lifted[^|]*$`));
      assert.is((await watch.state()).standing.size, 4);
    });
    assert.equal(watch.withdrawn, []);
  }
});

test('a broken document is no baseline, and its bans are known once it is whole', async () => {
  const watch = begun(minecraft(4).slice(0, 400));
  await watch.run(
    async () => {
      await watch.untilStill(() => watch.lines.some((line) => line.includes('the JSON is damaged here')));
      writeFileSync(watch.path, minecraft(4));
      await until(() => watch.lines.includes('4 bans of the list are known'));
    },
    { newOnly: true },
  );
  assert.equal(watch.reported, []);
});

test('bans behind a damaged line do not count as lifted, which is said once for each such line', async () => {
  const watch = begun();
  watch.write(...ids);
  const said = (line: number) =>
    `line ${line}: a quote is not closed, so that nothing from here on can be read; no ban counts as lifted because it is missing`;
  await watch.run(async () => {
    await watch.said('reported 5 bans');
    await watch.untilPresent();
    writeFileSync(watch.path, `steam_id\n${ids[0]}\n${ids[1]}\n${ids[2]}\n"\n`);
    await watch.said(said(5));
    await watch.untilStill(() => true);
    await watch.untilLooked();
    writeFileSync(watch.path, `steam_id\n${ids[0]}\n${ids[1]}\n${ids[2]}\n" \n`);
    await watch.untilLooked();
    assert.equal(watch.lines, []);
    writeFileSync(watch.path, `steam_id\n${ids[0]}\n${ids[1]}\n"\n`);
    await watch.said(said(4));
  });
  assert.equal(watch.withdrawn, []);
});

test('a ban that has expired is not withdrawn when it leaves the list, and is forgotten', async () => {
  const watch = begun(minecraft(3));
  await watch.run(async () => {
    await watch.said('reported 3 bans');
    watch.now = Date.UTC(2027, 0, 1);
    writeFileSync(watch.path, minecraft(4));
    await until(async () => (await watch.state()).standing.size === 2);
  });
  assert.equal(watch.withdrawn, []);
});

test('a table that loses its column for a removal ends its watch', async () => {
  const watch = begun(sourcebans(3));
  await watch.run(async () => void (await watch.said('reported 3 bans')));
  writeFileSync(watch.path, sourcebans(3).replace('RemoveType', 'Other'));
  assert.equal(await failure(watch), ['cells_not_described', 4]);
});

test('a document whose entries no longer have an end is watched on, and one without its path is not', async () => {
  const end = { cell: 'until', unit: 'text' } as const;
  const described = { name: 'own', title: 'own', shape: 'json', recognise: { why: '' }, path: 'bans' } as const;
  const more = { description: { ...described, ids: [{ cell: 'id' }], end, needs: ['until'] } };
  const entries = (...ends: readonly (string | undefined)[]) => ends.map((until, i) => ({ id: ids[i], until }));
  const none = JSON.stringify({ bans: entries(undefined) });
  assert.equal(await failure(begun(none), more), ['cells_not_described', 4], 'the first list');
  const watch = begun(JSON.stringify({ bans: entries('2027-01-01') }));
  await watch.run(async () => {
    await watch.said('reported 1 bans');
    writeFileSync(watch.path, JSON.stringify({ bans: entries(undefined, undefined) }));
    await watch.said('reported 1 bans');
  }, more);
  writeFileSync(watch.path, JSON.stringify({ others: entries('2027-01-01') }));
  assert.equal(await failure(watch, more), ['cells_not_described', 4]);
});

test('a list that was watched with a description needs it again, or a format', async () => {
  const watch = begun();
  watch.write(...ids);
  const described = { name: 'own', title: 'own', shape: 'csv', recognise: { why: '' } } as const;
  const description = { ...described, ids: [{ cell: 'steam_id' }] };
  await watch.run(async () => void (await watch.said('reported 5 bans')), { description });
  const { message } = await errorOf(watch);
  assert.is(message, 'the list was watched with --description: give it again, or name a format with --format');
  watch.write(...ids, '76561202255225739');
  await watch.run(async () => void (await watch.said('reported 1 bans')), { description });
  await watch.run(async () => void (await watch.said('reported 6 bans')), { format: 'csv' });
});

test('a refusal to state the kinds of ids, which are known, stops no report and hides no later refusal', async () => {
  const watch = begun();
  watch.write(...ids.slice(0, 4));
  await watch.run(async () => void (await watch.said('reported 4 bans')));
  watch.write(...ids);
  let asked = 0;
  watch.refuses = ({ path }) => (path.startsWith('/api/v1/peers') && asked++ === 0 ? refusal : undefined);
  await watch.run(async () => {
    const [problem] = await watch.said('reported 1 bans');
    assert.match(problem!, /\(peer_not_active\); the kinds of ids that it stated before are used$/);
    await until(() => new Set(watch.reported).size === 5);
    assert.equal(watch.lines, []);
    watch.refuses = () => refusal;
    watch.write(...ids, '76561202255225739');
    await until(() => watch.lines.some((line) => line.endsWith('(peer_not_active)')));
  });
});

test('a new problem of one part of a watch is said although an older problem of another part lasts', async () => {
  const watch = begun();
  watch.write(...ids);
  const unknownKey = { status: 401, body: { code: 'invalid_api_key', error: 'no' } };
  const hasSaid = (code: string) => watch.lines.some((line) => line.endsWith(`(${code})`));
  await watch.run(async () => {
    await watch.said('reported 5 bans');
    await watch.untilPresent();
    watch.refuses = ({ method }) => (method === 'DELETE' ? refusal : undefined);
    watch.write(...ids.slice(1));
    await watch.untilStill(() => hasSaid('peer_not_active'));
    watch.refuses = ({ method }) => (method === 'DELETE' ? refusal : unknownKey);
    watch.write(...ids.slice(1), '76561202255225739');
    await until(() => hasSaid('invalid_api_key'));
  });
});

test('a signal ends a watch that waits for the node, and is no problem of a withdrawal', async () => {
  const waiting = begun();
  waiting.write(...ids);
  waiting.refuses = () => refusal;
  await waiting.run(() => until(() => waiting.lines.length > 0));
  assert.is(waiting.lines.length, 1, 'the node still refuses');
  const watch = begun();
  watch.write(...ids);
  let isAsked = false;
  watch.refuses = ({ method }) => {
    if (method !== 'DELETE') return undefined;
    isAsked = true;
    return { stream: neverEnding() };
  };
  await watch.run(async () => {
    await watch.said('reported 5 bans');
    await watch.untilPresent();
    watch.write(...ids.slice(1));
    await watch.untilStill(() => isAsked);
  });
  assert.equal(watch.lines, []);
});

async function* neverEnding() {
  await new Promise(() => undefined);
  yield '';
}

test.run();
