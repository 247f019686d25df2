import { existsSync, mkdirSync, mkdtempSync, readlinkSync, rmSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { commandPath } from '../../../src/operator/protocol/socket-path.js';
import { startOperatorSocket } from '../../../src/operator/protocol/socket-server.js';
import { temporaryFolder } from '../../support/process.js';
import { recordedGroup } from '../recorded-group.js';

test('a command whose answer cannot be written is disconnected, and waits for nothing', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'ptf-operator-'));
  const logged: string[] = [];
  const log = pino({ level: 'error' }, { write: (line) => void logged.push(line) });
  const version = 1n as unknown as string;
  const node = { group: recordedGroup(1).group, version, pseudonymise: () => null, unlockDashboard: () => undefined };
  const socket = await startOperatorSocket({ dir, log, ...node });
  try {
    const outcome = await new Promise((resolve) => {
      const sent = request({ socketPath: socket.path, path: `${commandPath}status`, method: 'POST', agent: false });
      sent.on('response', ({ statusCode }) => resolve(statusCode)).on('error', ({ message }) => resolve(message));
      sent.end('{}');
    });
    assert.is(outcome, 'socket hang up');
    assert.match(logged.join(), 'the operator could not be answered');
  } finally {
    await socket.close();
    rmSync(dir, { recursive: true });
  }
});

test('a stopped socket leaves no descriptor of a data folder whose path is too long for it', async () => {
  const dir = join(temporaryFolder(), 'x'.repeat(120));
  mkdirSync(dir);
  const { group } = recordedGroup(1);
  const node = { group, version: '1', pseudonymise: () => null, unlockDashboard: () => undefined };
  const socket = await startOperatorSocket({ dir, log: pino({ level: 'silent' }), ...node });
  const [, folder] = /^(\/proc\/self\/fd\/\d+)\//.exec(socket.path)!;
  assert.is(readlinkSync(folder!), dir);
  await socket.close();
  assert.is(existsSync(folder!) && readlinkSync(folder!) === dir, false);
});

test.run();
