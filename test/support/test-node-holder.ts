/**
 * Entry of a process that a test kills: starts a test node in the folder of its argument, prints where it is, and
 * waits.
 */
import { argv, stdout } from 'node:process';
import { startTestNode } from '../../src/testing/test-node.js';

const node = await startTestNode({ folder: argv[2]! });
stdout.write(`${node.url} ${/"pid":(\d+)/.exec(node.output)![1]}\n`);
