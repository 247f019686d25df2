import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { eventKind, only } from '../../bench/load/requests.js';
import { filledNode, startNode } from '../../bench/node-target.js';
import { Report } from '../../bench/report.js';
import { eventsIn, expectStored } from '../../bench/stored.js';
import { driveWindow } from '../../bench/windows.js';

test('acknowledged events that the log lacks are an error, which other records do not offset', async () => {
  const running = await startNode('node', await filledNode({ players: 50, peers: 3, seed: 1, snapshotAfter: 1 }));
  try {
    const { target, site, node, events } = running;
    const workload = only(eventKind(site));
    await driveWindow({ name: 'some', target, workload, connections: 2, rate: null }, 0.4, performance.now());
    const report = new Report('some', {});
    await expectStored(running, report);
    assert.not.match(report.result().notes.join('\n'), 'FAULT');
    assert.ok((await eventsIn(node.dataDir)) > events);
    const { exitCode } = process;
    // As if the folder had held many more before.
    await expectStored({ ...running, events: events + 100_000 }, report);
    process.exitCode = exitCode;
    assert.match(report.result().notes.join('\n'), /FAULT: node: \d+ events acknowledged, the log grew by -?\d+/);
  } finally {
    await running.target.stop();
  }
});

test.run();
