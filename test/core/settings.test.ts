/** The settings that the nodes of a cluster share: their record and its audit entry. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { decidePreTrust } from '../../src/core/rules/decide-peer.js';
import { decideSetting, loggedSettings } from '../../src/core/rules/decide-setting.js';
import { Given, t0 } from '../support/given.js';

test('a setting becomes an audited record, and the same value again writes nothing', () => {
  const given = new Given(90);
  assert.equal(Object.keys(loggedSettings(given.state)), ['HALF_LIFE_DAYS', 'BAN_HALF_LIFE_DAYS']);
  const set = { name: 'ERASURE_MODE', value: 'own', by: 'operator:alice' } as const;
  const { records } = decideSetting(given.state, set, t0);
  assert.equal(
    records.map((record) => ({ ...record, audit: null })),
    [{ type: 'group_setting_changed', name: 'ERASURE_MODE', value: 'own', audit: null }],
  );
  const { audit } = records[0] as { audit: { action: string; actor: string; target: string } };
  assert.equal(
    [audit.action, audit.actor, audit.target],
    ['group_setting_changed', 'operator:alice', 'ERASURE_MODE own'],
  );
  given.apply(records, t0);
  assert.is(loggedSettings(given.state).ERASURE_MODE, 'own');
  assert.equal(decideSetting(given.state, set, t0).records, []);
});

test('a half-life that an operator sets is the record of half-lives, under the name of the operator', () => {
  const given = new Given(90);
  for (const name of ['HALF_LIFE_DAYS', 'BAN_HALF_LIFE_DAYS'] as const) {
    const { records } = decideSetting(given.state, { name, value: 30, by: 'operator:alice' }, t0);
    const { audit } = records[0] as { audit: { actor: string; target: string } };
    assert.equal([audit.actor, audit.target], ['operator:alice', '30 days']);
    given.apply(records, t0);
    assert.is(loggedSettings(given.state)[name], 30);
  }
});

test('pre-trusted peers that an operator sets are in force, whatever was changed since the same command', () => {
  const given = new Given(90).peers(1);
  const set = (by: string) => {
    given.done(decideSetting(given.state, { name: 'PRE_TRUSTED_PEERS', value: 'peer-0', by }, t0));
    return given.state.preTrusted;
  };
  assert.equal(set('operator:alice'), [0]);
  given.done(decidePreTrust(given.state, { peerId: 'peer-0', change: 'remove', by: 'operator:bob' }, t0));
  assert.equal(set('configuration'), [], 'a variable that has not changed undoes no command');
  assert.equal(set('operator:alice'), [0]);
});

test.run();
