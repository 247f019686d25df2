/**
 * The entry of the node. It checks Node's version and the limit of open files before it loads anything else, since
 * loading the service opens files and uses features that an older Node lacks.
 */
import './require-node.js';
import './require-open-files.js';

await import('./node/process.js');
