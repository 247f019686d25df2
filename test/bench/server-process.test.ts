/** A server that is measured, in a process of its own. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { leaveUnpinned } from '../../bench/machine.js';
import { ServerProcess } from '../../bench/server-process.js';
import { temporaryFolder } from '../support/process.js';

leaveUnpinned();
const folder = temporaryFolder();

function serverOf(code: string, onFall: (text: string) => void): { server: ServerProcess; script: string } {
  const script = join(folder, 'server.mjs');
  writeFileSync(script, `${code}\nconsole.log('{"msg":"listening","port":7}');`);
  return { server: new ServerProcess({ script, cwd: folder, env: {} }, onFall), script };
}

test('a server that ends by itself is named, with how it ended and its last lines', async () => {
  const words = 'for (let i = 0; i < 30; i++) console.error("line " + i);';
  const ends = 'process.on("SIGUSR2", () => process.exit(3)); setInterval(() => undefined, 1000);';
  const fall = await new Promise<string>((resolve) => {
    const { server, script } = serverOf(words + ends, (text) => resolve(text.replace(script, 'SCRIPT')));
    server.start().then(() => process.kill(server.pid!, 'SIGUSR2'));
  });
  const [how, ...last] = fall.split('\n');
  assert.is(how, 'the server SCRIPT on port 7 ended by itself with 3');
  // The last lines of 30 and the one by which it listens; the order in which two pipes are read is random.
  assert.is(last.length, 20);
  assert.is(last.filter((line) => line.startsWith('line ')).at(-1), 'line 29');
});

test('a server that is ended by the bench has not ended by itself', async () => {
  const falls: string[] = [];
  for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
    const { server } = serverOf('setInterval(() => undefined, 1000);', (text) => falls.push(text));
    await server.start();
    await server.end(signal);
  }
  assert.equal(falls, []);
});

test.run();
