/**
 * Runs one compiled test file, named by the first argument, and tells the runner through file descriptor 3 which test
 * runs and which condition `until` waits for. The runner measures the time: a test that blocks its thread is named too.
 */
import { subscribe } from 'node:diagnostics_channel';
import { writeSync } from 'node:fs';
import { register } from 'node:module';
import { pathToFileURL } from 'node:url';
import { test } from 'uvu';

const send = (message) => writeSync(3, `${JSON.stringify(message)}\n`);

test.before(() => send({ stage: 'the hooks before the first test' }));
test.before.each(({ __test__: name }) => send({ stage: `"${name}"` }));
test.after(() => send({ stage: 'the hooks after the last test' }));
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
await import(pathToFileURL(process.argv[2]).href);
