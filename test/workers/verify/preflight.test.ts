/** The reasons for which a node would not start on an intact folder. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { GroupIdentity } from '../../../src/group/api.js';
import { formGroup } from '../../../src/group/recovery/formation.js';
import { limits } from '../../../src/limits.js';
import { writeClockSeen } from '../../../src/store/files/folder-files.js';
import { acquireFolder } from '../../../src/store/ownership/owner.js';
import { startProblems } from '../../../src/workers/verify/preflight.js';
import { inFastFolder } from '../../faults/fault.js';
import { closing } from '../../support/closing.js';
import { t0 } from '../../support/given.js';

const identity: GroupIdentity = { groupId: 'g', identityMode: 'privacy-first', environment: 'prod' };
const salt = 's'.repeat(limits.saltBytesMin);

async function formed(dir: string, of: GroupIdentity | null): Promise<void> {
  await using writer = closing(await acquireFolder(dir));
  const formation = { halfLifeDays: 1, banHalfLifeDays: 6, salt: Buffer.from(salt) };
  const random = { bytes: (count: number) => new Uint8Array(count), uuid: () => '' };
  if (of !== null) await formGroup({ identity: of, ...formation }, writer, { now: () => t0 }, random);
}

test('another group or salt, a clock far ahead, a backup and a half restored folder are named', () =>
  inFastFolder(async (root) => {
    const [dir, dev, empty] = [join(root, 'a'), join(root, 'dev'), join(root, 'empty')];
    await formed(dir, identity);
    await formed(dev, { ...identity, environment: 'dev' });
    await formed(empty, null);
    const late = t0 + limits.clockAheadMs + 1;
    const problems = async (
      folder: string,
      of: object = {},
      its: string | null = salt,
      now = t0,
      until: number | null = null,
    ) => (await startProblems(folder, { ...identity, ...of }, its, { now, acceptedUntil: until })).join();
    assert.is(await problems(dir), '');
    assert.match(await problems(dir, { groupId: 'h' }), /GROUP_ID/);
    assert.match(await problems(dir, {}, `${salt}x`), /GROUP_SALT/);
    assert.match(await problems(dir, {}, null), /GROUP_SALT is unset, but this data folder was formed with one/);
    assert.match(await problems(dir, {}, salt, late), /^the clock shows .* more than a day ahead/);
    assert.match(await problems(dir, { groupId: 'h' }, salt, late), /GROUP_ID.*,the clock shows/);
    for (const clock of [[late, late], [late - 1]] as const) assert.is(await problems(dir, {}, salt, ...clock), '');
    assert.is(await problems(dev, { environment: 'dev' }, salt, late), '');
    await writeClockSeen(dir, late);
    assert.is(await problems(dir, {}, salt, late), '');
    assert.is(await problems(empty), '', 'damage is found by a verification');
    mkdirSync(join(dir, '.restoring'));
    assert.match(await problems(dir), /was interrupted/);
    writeFileSync(join(dir, 'backup.json'), '');
    assert.match(await problems(dir), /is a backup, not a data folder/);
  }));

test.run();
