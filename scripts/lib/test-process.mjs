/**
 * Runs compiled test files, named by the arguments, one after the other. The next file begins once nothing of the one
 * before it is open, as if its process had ended. The process ends with the first file that fails. It tells the runner
 * through file descriptor 3 which file and test run and which condition `until` waits for. The runner measures the
 * time: a test that blocks its thread is named too.
 */
import { subscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { writeSync } from 'node:fs';
import { register } from 'node:module';
import { pathToFileURL } from 'node:url';
import { endOfFile } from './run-tests.mjs';

// uvu then leaves it to this module to run what a file queued.
globalThis.UVU_DEFER = 1;
const { exec, test } = await import('uvu');

const send = (message) => writeSync(3, `${JSON.stringify(message)}\n`);
const outputs = [process.stdout, process.stderr].map((stream) => stream.write.bind(stream));

subscribe('ptf.test.until', (condition) => send({ waitsFor: condition }));
if (process.env.TEST_STOPS_AT_FAILURE) {
  const write = process.stdout.write.bind(process.stdout);
  process.stdout.write = (...args) => {
    // uvu's mark of a failed test; the next one has not begun.
    if (String(args[0]).includes('✘')) process.exit(1);
    return write(...args);
  };
}
if (process.env.TEST_NAME) register('./tests-by-name.mjs', import.meta.url);

for (const [index, path] of process.argv.slice(2).entries()) {
  if (index > 0) {
    await once(process, 'beforeExit');
    if (process.exitCode) process.exit();
    for (const output of outputs) output(endOfFile);
    send({ file: index });
  }
  const queued = [null];
  globalThis.UVU_QUEUE = [queued];
  test.before(() => send({ stage: 'the hooks before the first test' }));
  test.before.each(({ __test__: name }) => send({ stage: `"${name}"` }));
  test.after(() => send({ stage: 'the hooks after the last test' }));
  await import(pathToFileURL(path).href);
  // Tests that the file did not queue would run with the next file.
  if (queued.length === 1) process.exit(1);
  await exec();
  send({ isOver: true });
}
