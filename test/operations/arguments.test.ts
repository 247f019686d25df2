/** Arguments of the command line: which texts are accepted, at the bounds, and what they mean. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { DAY_MS, HOUR_MS, limits } from '../../src/limits.js';
import {
  countUpTo,
  parseCount,
  parseHalfLife,
  parseHash,
  parseIdle,
  parseNames,
  parseOverlap,
  parsePeerSet,
  parsePublicKey,
  parseShare,
  parseSince,
  parseUntil,
} from '../../src/operations/arguments.js';

function accepts<T>(parse: (text: string) => T, ...cases: readonly (readonly [text: string, value: T])[]): void {
  for (const [text, value] of cases) assert.equal(parse(text), value, text);
}

function refuses(parse: (text: string) => unknown, hint: RegExp, ...texts: readonly string[]): void {
  for (const text of texts)
    assert.throws(
      () => parse(text),
      ({ message }: Error) => hint.test(message),
      text,
    );
}

test('a time is a number and a unit of its option, up to its bound', () => {
  accepts(parseOverlap, ['0s', 0], ['30s', 30_000], ['15m', 900_000], ['24h', 24 * HOUR_MS]);
  refuses(parseOverlap, /at most 24h: 1h/, '', '-1h', '1.5h', '1d', '25h', '86401s', '1', 'h', ' 1h', '1h ');
  const days = limits.purgeIdleMsMax / DAY_MS;
  accepts(parseIdle, ['30m', 1_800_000], ['12h', 12 * HOUR_MS], [`${days}d`, limits.purgeIdleMsMax]);
  refuses(parseIdle, new RegExp(`at most ${days}d: 1d`), `${days + 1}d`, '30s', '');
});

test('a half-life is a whole number of days, a share from 0 to 1, and a count from 1 to its bound', () => {
  accepts(parseHalfLife, ['0', 0], [String(limits.halfLifeDaysMax), limits.halfLifeDaysMax]);
  refuses(parseHalfLife, /0 \(no decay\) to \d/, String(limits.halfLifeDaysMax + 1), '-1', '1.5', '');
  accepts(parseShare, ['0', 0], ['1', 1], ['.1', 0.1], ['0.25', 0.25]);
  refuses(parseShare, /from 0 to 1/, '2', '1.1', '10', '-1', '0.', '');
  accepts(countUpTo(5), ['1', 1], ['5', 5]);
  refuses(countUpTo(5), /from 1 to 5/, '0', '6', '-1', '1.0', 'x', '');
  accepts(parseCount, [String(limits.pageMax), limits.pageMax]);
  refuses(parseCount, /whole number/, String(limits.pageMax + 1));
});

test('names are separated by commas, and none is a set without peers only where a set is asked for', () => {
  accepts(parseNames, ['chess, go,,', ['chess', 'go']], ['none', ['none']]);
  refuses(parseNames, /at least one/, '', ' , ');
  accepts(parsePeerSet, [' none ', []], ['a,b', ['a', 'b']]);
});

test('a day until which something holds ends with it, and one since which entries are wanted begins it', () => {
  accepts(parseUntil, ['2030-12-31', '2030-12-31T23:59:59.999Z'], ['2030-12-31T18:00:00Z', '2030-12-31T18:00:00.000Z']);
  refuses(parseUntil, /a day, 2026-12-31, or a time/, 'tomorrow', '2030-13-01', '12h', '2030-12-31 ');
  accepts(parseSince, ['2030-12-31', '2030-12-31T00:00:00.000Z'], ['2030-12-31T18:00:00Z', '2030-12-31T18:00:00.000Z']);
  refuses(parseSince, /an age, 12h or 7d/, 'yesterday', '30s', '');
  const before = Date.now() - 7 * DAY_MS;
  const since = Date.parse(parseSince('7d'));
  assert.ok(since >= before && since <= Date.now() - 7 * DAY_MS);
});

test('a subject hash is 64 hexadecimal characters, lower-cased', () => {
  accepts(parseHash, ['AB'.repeat(32), 'ab'.repeat(32)]);
  refuses(parseHash, /64/, '', 'ab', 'zz'.repeat(32), `${'ab'.repeat(32)}0`);
});

test('a public key has 43 characters of base64url', () => {
  const key = 'JrQLj5P_89iXES9-vFgrIy29clF9CC_oPPsw3c5D0bs';
  accepts(parsePublicKey, [key, key]);
  refuses(parsePublicKey, /32 raw bytes in base64url/, `${key}=`, key.slice(1), '');
});

test.run();
