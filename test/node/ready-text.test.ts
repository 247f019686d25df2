/** The text on a terminal once the node is ready. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { readyText, urlOf } from '../../src/node/operator-access.js';

test('a terminal learns where the node, its docs, its dashboard and its data are', () => {
  const address = { host: '127.0.0.1', port: 8080 };
  assert.is(
    readyText(address, null, '/srv/data'),
    'ready        http://127.0.0.1:8080\ndocs         http://127.0.0.1:8080/docs\ndata folder  /srv/data\n',
  );
  const dashboardAddress = { host: '127.0.0.1', port: 9090 };
  assert.match(readyText(address, dashboardAddress, '/srv/data'), '\ndashboard    http://127.0.0.1:9090\n');
});

test('an address of all interfaces is given as the one of this machine', () => {
  assert.is(urlOf({ host: '0.0.0.0', port: 1 }), 'http://127.0.0.1:1');
  assert.is(urlOf({ host: '::', port: 1 }), 'http://[::1]:1');
  assert.is(urlOf({ host: 'node.example', port: 1 }), 'http://node.example:1');
});

test.run();
