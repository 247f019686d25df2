/**
 * The entry of the node. It checks Node's version and the limit of open files, and sets V8's flags, before it loads anything else: loading opens files and makes the heap grow.
 */
import './require-node.js';
import './require-open-files.js';
import './memory-reducer.js';

await import('./process.js');
