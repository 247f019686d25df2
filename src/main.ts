/** The entry of the node. Loading the service opens files and needs a new Node, so both are checked first. */
import './require-node.js';
import './require-open-files.js';

await import('./node/process.js');
