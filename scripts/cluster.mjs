/** `npm run cluster`: three members of etcd, three nodes and a proxy on this machine, until Ctrl-C. */
import './lib/require-node.mjs';
import { runBuilt } from './lib/run-built.mjs';

runBuilt('bench/cluster/main.js');
