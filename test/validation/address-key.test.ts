/** The key under which limits count a network address. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { addressKeyOf } from '../../src/validation/address-key.js';

test('an IPv4 address counts as itself, however it is written, and IPv6 addresses by their /64', () => {
  assert.is(addressKeyOf('192.0.2.7'), '192.0.2.7');
  assert.is(addressKeyOf('::ffff:192.0.2.7'), '192.0.2.7');
  assert.is(addressKeyOf('2001:db8:1:2:3:4:5:6'), '2001:db8:1:2::/64');
  assert.is(addressKeyOf('2001:db8:1:2::9'), '2001:db8:1:2::/64');
  assert.is(addressKeyOf('2001:db8::1'), '2001:db8:0:0::/64');
  assert.is(addressKeyOf('2001::2:3:4:5:6:7'), '2001:0:2:3::/64');
  assert.is(addressKeyOf('fe80::1%eth0'), 'fe80:0:0:0::/64');
  assert.is(addressKeyOf('2001:db8:1::'), '2001:db8:1:0::/64');
  assert.is(addressKeyOf(undefined), 'others');
  assert.is(addressKeyOf('::1'), '0:0:0:0::/64');
});

test.run();
