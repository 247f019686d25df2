/** The moves of a data folder that are refused before etcd is called. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { exportData, importData, MoveRefusedError } from '../../../src/node/cluster/cluster-data.js';
import { loadConfig } from '../../../src/node/config.js';
import { readMark, writeMark } from '../../../src/store/files/folder-files.js';
import { rejection } from '../../store/log-contract.js';
import { removeFolder, temporaryFolder } from '../../store/temporary-folder.js';
import { startTestNode } from '../../support/node.js';

const mark = { cluster_id: 'c', node_id: 'n' };

test('a folder of another history is neither exported unawares nor imported, and keeps its mark', async () => {
  const dir = temporaryFolder();
  try {
    await (await startTestNode({ DATA_DIR: dir })).close();
    const outcome = loadConfig({ DATA_DIR: dir }, () => undefined);
    assert.ok(outcome.ok);
    if (!outcome.ok) return;
    const { config } = outcome;
    const exporting = await rejection(exportData(config, dir));
    assert.instance(exporting, MoveRefusedError);
    assert.match(String(exporting), 'belongs to no cluster');
    const diverged = { ...mark, diverged: true } as const;
    await writeMark(dir, diverged);
    const refused = await rejection(exportData(config, dir));
    assert.instance(refused, MoveRefusedError);
    assert.match(String(refused), /another history .* export the folder of another node/);
    assert.match(String(await rejection(importData(config, dir))), 'already belongs to a cluster');
    assert.equal(readMark(dir), diverged);
    writeFileSync(join(dir, '.joining'), '');
    assert.match(String(await rejection(exportData(config, dir))), 'is being replaced: start its node first');
  } finally {
    removeFolder(dir);
  }
});

test.run();
