import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { formats, parseUtcDateTime } from '../../src/validation/formats.js';

test('a date-time is read to the millisecond, further digits are cut', () => {
  // `date -u -d 2026-01-02T03:04:05Z +%s` prints 1767323045.
  assert.is(parseUtcDateTime('2026-01-02T03:04:05Z'), 1_767_323_045_000);
  assert.is(parseUtcDateTime('2026-01-02T03:04:05.6Z'), 1_767_323_045_600);
  assert.is(parseUtcDateTime('2026-01-02T03:04:05.678999999Z'), 1_767_323_045_678);
  assert.is(parseUtcDateTime('2026-01-02T03:04:05.678+00:00'), 1_767_323_045_678);
  assert.is(parseUtcDateTime('1969-12-31T23:59:59.999Z'), -1);
});

test('every day of the calendar equals that of the platform', () => {
  const dayMs = 86_400_000;
  const assertDays = (from: string, to: string, days: number) => {
    for (let ms = Date.parse(`${from}-01-01T00:00:00Z`); ms < Date.parse(`${to}-01-01T00:00:00Z`); ms += days * dayMs) {
      const text = new Date(ms + 12_345_678).toISOString();
      if (parseUtcDateTime(text) !== ms + 12_345_678) assert.unreachable(text);
    }
  };
  // The calendar repeats itself after 400 years.
  assertDays('1800', '2200', 1);
  assertDays('0000', '9999', 31);
});

test('a time that is not RFC 3339 in UTC is refused', () => {
  const refused = [
    '',
    '2026-01-02',
    '2026-01-02 03:04:05Z',
    '2026-01-02t03:04:05Z',
    '2026-01-02T03:04:05z',
    '2026-01-02T03:04:05',
    '2026-01-02T03:04Z',
    '2026-01-02T03:04:60Z',
    '2026-01-02T24:00:00Z',
    '2026-01-02T03:60:00Z',
    '2026-13-02T03:04:05Z',
    '2026-00-02T03:04:05Z',
    '2026-04-31T03:04:05Z',
    '2026-02-29T00:00:00Z',
    '2100-02-29T00:00:00Z',
    '2026-01-00T03:04:05Z',
    '2026-01-02T03:04:05-00:00',
    '2026-01-02T03:04:05+01:00',
    '2026-01-02T03:04:05+0000',
    '2026-01-02T03:04:05.Z',
    '2026-01-02T03:04:05,5Z',
    '2026-01-02T03:04:05.1234567890Z',
    '+002026-01-02T03:04:05Z',
    ' 2026-01-02T03:04:05Z',
    '2026-01-02T03:04:05Z\n',
    '２026-01-02T03:04:05Z',
  ];
  for (const text of refused) assert.is(parseUtcDateTime(text), undefined, text);
});

test('a semantic version has three numbers without leading zeros, a pre-release and a build', () => {
  // Valid and invalid forms from the suite that semver.org links to.
  for (const text of [
    '0.0.4',
    '10.20.30',
    '1.2.3',
    '1.0.0-alpha.1',
    '1.1.2-prerelease+meta',
    '1.0.0-0A.is.legal',
    '2.0.0+build.1848',
  ]) {
    assert.ok(formats.semver(text), text);
  }
  for (const text of [
    '',
    '1',
    '1.2',
    '1.2.3-0123',
    '1.1.2+.123',
    '01.1.1',
    '1.01.1',
    'v1.2.3',
    '1.2.3.DEV',
    '1.0.0-alpha..1',
    '1.2.3 ',
  ]) {
    assert.not(formats.semver(text), text);
  }
});

test('an email address has a local part, one @ and a host', () => {
  for (const text of ['ops@example.com', 'a.b+c@sub.example.org', 'ops@localhost'])
    assert.ok(formats.email(text), text);
  for (const text of [
    '',
    'ops',
    '@example.com',
    'ops@',
    'a b@example.com',
    'a@b@c',
    'ops@-example.com',
    'ops@exa_mple.com',
  ]) {
    assert.not(formats.email(text), text);
  }
});

test('an adversarial string does not slow a pattern down', () => {
  const before = process.cpuUsage();
  formats.semver(`1.0.0-${'a.'.repeat(30)}!`);
  formats.email(`${'a'.repeat(16_000)}!`);
  formats.email(`a@${'a-'.repeat(8_000)}!`);
  // Measures the processor's time, which other work on the machine does not lengthen.
  const { user, system } = process.cpuUsage(before);
  assert.ok(user + system < 500_000, `${user + system} us`);
});

test.run();
