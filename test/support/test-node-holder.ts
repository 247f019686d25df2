/** A test that dies: starts a test node in the folder of its argument, says where it is, and waits to be ended. */
import { argv, stdout } from 'node:process';
import { startTestNode } from '../../src/testing.js';

const node = await startTestNode({ folder: argv[2]! });
stdout.write(`${node.url} ${/"pid":(\d+)/.exec(node.output)![1]}\n`);
